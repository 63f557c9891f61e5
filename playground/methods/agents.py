"""assistant.threads.setStatus, setTitle, setSuggestedPrompts; agents.sessions.setStatus."""

from __future__ import annotations

from playground import limits
from playground.errors import SlackError
from playground.methods.registry import Call, method
from playground.model import Json


@method("assistant.threads.setStatus")
def set_status(call: Call) -> Json:
    channel, thread = _thread(call)
    status, loading = call.arguments.text("status"), call.arguments.values.get("loading_messages") or []
    if not isinstance(loading, list) or len(loading) > limits.LOADING_MESSAGES:
        raise SlackError(
            "invalid_arguments", f"[ERROR] no more than {limits.LOADING_MESSAGES} items allowed [json-pointer:/loading_messages]"
        )
    call.platform.interactions.set_status(channel, thread, status, [str(message) for message in loading])
    return {}


@method("assistant.threads.setTitle")
def set_title(call: Call) -> Json:
    _thread(call)
    call.arguments.required("title")
    return {}


@method("assistant.threads.setSuggestedPrompts")
def set_suggested_prompts(call: Call) -> Json:
    channel = call.channel("channel_id", member=True)
    prompts = call.arguments.items("prompts") or []
    if not 1 <= len(prompts) <= limits.SUGGESTED_PROMPTS or not all(prompt.get("title") and prompt.get("message") for prompt in prompts):
        raise SlackError("invalid_arguments", "[ERROR] one to four prompts, each with title and message [json-pointer:/prompts]")
    call.platform.interactions.set_prompts(channel.id, call.arguments.text("title"), prompts)
    return {}


@method("agents.sessions.setStatus")
def set_session_status(call: Call) -> Json:
    status = call.arguments.text("status")
    if status not in ("active", "processing", "suspended", "closed"):
        raise SlackError("invalid_arguments", "[ERROR] must be one of active, processing, suspended, closed [json-pointer:/status]")
    if len(call.arguments.text("title")) > limits.SESSION_TITLE_CHARACTERS:
        raise SlackError("invalid_arguments", "[ERROR] must be less than 201 characters [json-pointer:/title]")
    channel, thread = _thread(call)
    call.platform.interactions.set_session(channel, thread, status)
    return {"channel_id": channel, "thread_ts": thread, "status": status}


def _thread(call: Call) -> tuple[str, str]:
    channel = call.channel("channel_id", member=True)
    thread = call.arguments.text("thread_ts")
    if channel.kind != "im" or thread:
        found = call.workspace.messages[channel.id].get(thread)
        if found is None or found.only_for:
            raise SlackError("invalid_thread_ts")
        thread = found.thread_ts or found.ts
    return channel.id, thread

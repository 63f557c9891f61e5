"""Block Kit as Slack checks it: what is too long, missing, unknown or doubled, each with a pointer to the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal
from urllib.parse import urlsplit

from playground import limits
from playground.errors import SlackError
from playground.model import Json

Surface = Literal["message", "home", "modal"]
_UNCHECKED = ("rich_text", "table", "task_card", "plan", "video", "file", "alert", "card", "container", "carousel", "image")
_TEXT_KEYS = ("text", "title", "label", "placeholder", "value", "alt_text", "details", "output")


class _Problems:
    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, message: str, pointer: str) -> None:
        self.found.append(f"[ERROR] {message} [json-pointer:{pointer}]")

    def length(self, value: Any, most: int, pointer: str, *, least: int = 0) -> None:
        if not isinstance(value, str):
            self.add("must be a string", pointer)
        elif len(value) > most:
            self.add(f"must be less than {most + 1} characters", pointer)
        elif len(value) < least:
            self.add(f"must be more than {least - 1} characters", pointer)

    def count(self, items: Any, most: int, pointer: str, *, least: int = 1) -> list[Any]:
        if not isinstance(items, list):
            self.add("must be an array", pointer)
            return []
        if len(items) > most:
            self.add(f"no more than {most} items allowed", pointer)
        if len(items) < least:
            self.add(f"must have at least {least} items", pointer)
        return items

    def missing(self, where: Json, name: str, pointer: str) -> bool:
        if name in where and where[name] is not None:
            return False
        self.add(f"missing required field: {name}", pointer)
        return True


def check_blocks(blocks: list[Json], surface: Surface = "message") -> None:
    """Raises: SlackError invalid_blocks with one message per problem, msg_blocks_too_long when all of it is too much for one message."""
    problems = _Problems()
    problems.count(blocks, limits.MESSAGE_BLOCKS if surface == "message" else limits.VIEW_BLOCKS, "/blocks", least=0)
    seen: set[str] = set()
    for number, block in enumerate(blocks):
        pointer = f"/blocks/{number}"
        _block(problems, block, pointer, surface)
        block_id = block.get("block_id")
        if block_id is not None:
            problems.length(block_id, limits.IDENTIFIER_CHARACTERS, f"{pointer}/block_id")
            if str(block_id) in seen:
                problems.add(f'`block_id` "{block_id}" already exists', f"{pointer}/block_id")
            seen.add(str(block_id))
    if problems.found:
        raise SlackError("invalid_blocks" if surface == "message" else "invalid_arguments", *problems.found)
    if surface == "message":
        if sum(len(block.get("text", "")) for block in blocks if block["type"] == "markdown") > limits.MARKDOWN_CHARACTERS:
            raise SlackError("msg_blocks_too_long")
        if text_length(blocks) > limits.MESSAGE_BLOCK_CHARACTERS:
            raise SlackError("msg_blocks_too_long")


def text_length(value: Any) -> int:
    """Characters of all visible text in blocks."""
    if isinstance(value, list):
        return sum(text_length(item) for item in value)
    if not isinstance(value, dict):
        return 0
    total = 0
    for key, inner in value.items():
        if isinstance(inner, (dict, list)):
            total += text_length(inner)
        elif key in _TEXT_KEYS and key != "value" and isinstance(inner, str):
            total += len(inner)
    return total


def stored_blocks(blocks: list[Json], fresh_id: Callable[[], str]) -> list[Json]:
    """Blocks as they read back: every one has a block_id, a markdown block never its own."""
    return [
        {**block, "block_id": fresh_id() if block["type"] == "markdown" or not block.get("block_id") else block["block_id"]}
        for block in blocks
    ]


def elements_of(blocks: list[Json]) -> Iterator[tuple[Json, Json]]:
    """(block, element) of everything in blocks that has an action_id or could have one."""
    for block in blocks:
        for element in (*block.get("elements", ()), block.get("accessory"), block.get("element")):
            if isinstance(element, dict) and block.get("type") != "rich_text":
                yield block, element


def _block(problems: _Problems, block: Json, pointer: str, surface: Surface) -> None:
    match block.get("type"):
        case "section":
            _section(problems, block, pointer)
        case "header":
            if not problems.missing(block, "text", pointer):
                _text(problems, block["text"], limits.HEADER_CHARACTERS, f"{pointer}/text", plain=True)
        case "markdown" if surface == "message":
            if not problems.missing(block, "text", pointer):
                problems.length(block["text"], limits.MARKDOWN_CHARACTERS, f"{pointer}/text", least=1)
        case "divider":
            pass
        case "context":
            for number, element in enumerate(problems.count(block.get("elements"), limits.CONTEXT_ELEMENTS, f"{pointer}/elements")):
                if not isinstance(element, dict) or element.get("type") != "image":
                    _text(problems, element, limits.SECTION_CHARACTERS, f"{pointer}/elements/{number}")
        case "actions":
            _elements(problems, block, limits.ACTIONS_ELEMENTS, pointer, _ACTIONS)
        case "context_actions" if surface == "message":
            _elements(problems, block, limits.CONTEXT_ACTIONS_ELEMENTS, pointer, ("feedback_buttons", "icon_button"))
        case "input":
            if not problems.missing(block, "label", pointer):
                _text(problems, block["label"], limits.FIELD_CHARACTERS, f"{pointer}/label", plain=True)
            if not problems.missing(block, "element", pointer):
                _element(problems, block["element"], f"{pointer}/element")
        case str(kind) if kind in _UNCHECKED:
            pass
        case None:
            problems.missing(block, "type", pointer)
        case kind:
            problems.add(f"unsupported type: {kind}", f"{pointer}/type")


def _section(problems: _Problems, block: Json, pointer: str) -> None:
    if "text" not in block and "fields" not in block:
        problems.missing(block, "text", pointer)
    if "text" in block:
        _text(problems, block["text"], limits.SECTION_CHARACTERS, f"{pointer}/text")
    if "fields" in block:
        for number, entry in enumerate(problems.count(block["fields"], limits.SECTION_FIELDS, f"{pointer}/fields")):
            _text(problems, entry, limits.FIELD_CHARACTERS, f"{pointer}/fields/{number}")
    if "accessory" in block:
        _element(problems, block["accessory"], f"{pointer}/accessory")


def _text(problems: _Problems, text: Any, most: int, pointer: str, *, plain: bool = False) -> None:
    if not isinstance(text, dict):
        problems.add("must be a text object", pointer)
    elif text.get("type") not in (("plain_text",) if plain else ("plain_text", "mrkdwn")):
        problems.add(f"unsupported type: {text.get('type')}", f"{pointer}/type")
    else:
        problems.length(text.get("text"), most, f"{pointer}/text", least=1)


_ACTIONS = (
    "button", "static_select", "external_select", "users_select", "channels_select", "conversations_select", "overflow", "datepicker",
    "timepicker", "checkboxes", "radio_buttons", "workflow_button", "multi_static_select",
)  # fmt: skip


def _elements(problems: _Problems, block: Json, most: int, pointer: str, kinds: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for number, element in enumerate(problems.count(block.get("elements"), most, f"{pointer}/elements")):
        here = f"{pointer}/elements/{number}"
        if not isinstance(element, dict) or element.get("type") not in kinds:
            problems.add(f"unsupported type: {element.get('type') if isinstance(element, dict) else element}", f"{here}/type")
            continue
        _element(problems, element, here)
        action_id = str(element.get("action_id") or "")
        if action_id in seen:
            problems.add(f'`action_id` "{action_id}" already exists', f"{here}/action_id")
        if action_id:
            seen.add(action_id)


def _element(problems: _Problems, element: Any, pointer: str) -> None:
    if not isinstance(element, dict):
        problems.add("must be an element", pointer)
        return
    if "action_id" in element:
        problems.length(element["action_id"], limits.IDENTIFIER_CHARACTERS, f"{pointer}/action_id", least=1)
    match element.get("type"):
        case "button" | "icon_button":
            _button(problems, element, pointer)
        case "feedback_buttons":
            for side in ("positive_button", "negative_button"):
                if not problems.missing(element, side, pointer):
                    _button(problems, element[side], f"{pointer}/{side}", value_needed=True)
        case "static_select" | "multi_static_select" | "radio_buttons" | "checkboxes":
            if "option_groups" not in element:
                _options(problems, element, limits.SELECT_OPTIONS, pointer)
        case "overflow":
            _options(problems, element, limits.OVERFLOW_OPTIONS, pointer)
        case _:
            pass


def _button(problems: _Problems, button: Json, pointer: str, *, value_needed: bool = False) -> None:
    if not problems.missing(button, "text", pointer):
        _text(problems, button["text"], limits.BUTTON_TEXT_CHARACTERS, f"{pointer}/text", plain=True)
    if value_needed:
        problems.missing(button, "value", pointer)
    if "value" in button:
        problems.length(button["value"], limits.BUTTON_VALUE_CHARACTERS, f"{pointer}/value", least=1)
    if "accessibility_label" in button:
        problems.length(button["accessibility_label"], limits.BUTTON_TEXT_CHARACTERS, f"{pointer}/accessibility_label")
    if "url" in button:
        problems.length(button["url"], limits.URL_CHARACTERS, f"{pointer}/url")
        if not isinstance(button["url"], str) or urlsplit(button["url"]).scheme not in ("http", "https", "mailto", "slack"):
            problems.add("must be a valid url", f"{pointer}/url")
    if button.get("style", "primary") not in ("primary", "danger"):
        problems.add("must be one of primary, danger", f"{pointer}/style")


def _options(problems: _Problems, element: Json, most: int, pointer: str) -> None:
    for number, option in enumerate(problems.count(element.get("options"), most, f"{pointer}/options")):
        here = f"{pointer}/options/{number}"
        if not isinstance(option, dict):
            problems.add("must be an option", here)
            continue
        if not problems.missing(option, "text", here):
            _text(problems, option["text"], limits.OPTION_CHARACTERS, f"{here}/text")
        if not problems.missing(option, "value", here):
            problems.length(option["value"], limits.OPTION_VALUE_CHARACTERS, f"{here}/value")

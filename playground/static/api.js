// Talking to the playground: one POST per thing done, one stream of server-sent events.

export async function send(action, body) {
  let response;
  try {
    response = await fetch(`/page/${action}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  } catch {
    throw new Error("The playground does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({ error: `The playground answered ${response.status}.` }));
  if (!response.ok) throw new Error(answer.error ?? `The playground answered ${response.status}.`);
  return answer;
}

const EVENTS = ["state", "message", "gone", "status", "home", "modal", "connected"];

// Calls on[event](body); `on.offline()` while the playground cannot be reached. Returns a function that ends it.
export function listen(user, on) {
  const source = new EventSource(`/page/events?user=${encodeURIComponent(user)}`);
  for (const name of EVENTS) source.addEventListener(name, (event) => on[name]?.(JSON.parse(event.data)));
  source.addEventListener("error", () => on.offline());
  return () => source.close();
}

// What one person sees: filled by the feed, read by everything that draws.

export const state = {
  user: "",
  bot: "",
  commands: [],
  connected: false,
  people: new Map(),
  channels: new Map(),
  messages: new Map(), // channel -> Map(ts -> message)
  statuses: new Map(), // "channel:thread" -> text
  home: null,
  channel: "",
  openThread: "",
  tab: "messages",
  opening: "",
  of: (channel) => [...(state.messages.get(channel)?.values() ?? [])].sort((a, b) => Number(a.ts) - Number(b.ts)),
  thread: (channel, root) => state.of(channel).filter((message) => message.ts === root || message.thread_ts === root),
};

export function keep(message) {
  if (!state.messages.has(message.channel)) state.messages.set(message.channel, new Map());
  const known = state.messages.get(message.channel);
  known.set(message.ts, { ...message, version: (known.get(message.ts)?.version ?? 0) + 1 });
}

export function replace(picture) {
  Object.assign(state, { user: picture.user, bot: picture.bot, commands: picture.commands, connected: picture.connected, home: picture.home });
  state.people = new Map(picture.people.map((person) => [person.id, person]));
  state.channels = new Map(picture.channels.map((channel) => [channel.id, channel]));
  state.messages = new Map();
  picture.messages.forEach(keep);
  state.statuses = new Map(picture.statuses.filter((entry) => entry.status).map((entry) => [`${entry.channel}:${entry.thread_ts}`, entry.status]));
}

import { keepOpen } from './connection.ts';
import type { ConnectionDeps } from './connection.ts';
import { covers, isSame, mergeQueries } from './merge-queries.ts';
import type { HubMessage, LinkState, Place, TabMessage, Want } from './messages.ts';

/** Events that are kept for tabs that come later. */
const MOST_KEPT = 200;

type Query = Readonly<Record<string, string>>;
type Post = (message: HubMessage) => void;

interface Channel {
  readonly path: string;
  readonly query: Query;
  readonly epoch: number;
  readonly stop: AbortController;
  /** Settles when the stream is closed. */
  ended: Promise<void>;
  kept: { seq: number; event: string; data: unknown }[];
  seq: number;
  state: LinkState;
  message: string | undefined;
}

/** Holds one stream for each path that any tab needs, and tells every tab what comes. */
export class Hub {
  readonly #deps: ConnectionDeps;
  readonly #tabs = new Map<string, { readonly post: Post; readonly wants: readonly Want[] }>();
  readonly #channels = new Map<string, Channel>();
  #epochs = 0;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  /** Takes what a tab needs from now on. */
  take({ tab, wants }: TabMessage, post: Post): void {
    const before = this.#tabs.get(tab)?.wants ?? [];
    if (wants.length === 0) this.#tabs.delete(tab);
    else this.#tabs.set(tab, { post, wants });
    this.#align();
    for (const want of wants) {
      const channel = this.#channels.get(want.path);
      const had = before.some(({ path, query }) => path === want.path && isSame(query, want.query));
      if (channel && !had) catchUp(channel, want.read, post);
    }
  }

  leave(tab: string): void {
    this.#tabs.delete(tab);
    this.#align();
  }

  /** Opens, closes and widens streams until they are what the tabs need. */
  #align(): void {
    const needed = new Map<string, Query[]>();
    for (const { wants } of this.#tabs.values())
      for (const { path, query } of wants) needed.set(path, [...(needed.get(path) ?? []), query]);
    for (const [path, { stop }] of this.#channels)
      if (!needed.has(path)) {
        stop.abort();
        this.#channels.delete(path);
      }
    for (const [path, queries] of needed) {
      const query = mergeQueries(queries);
      const channel = this.#channels.get(path);
      if (channel && covers(channel.query, query) && channel.state !== 'signed_out') continue;
      channel?.stop.abort();
      this.#open(path, query, channel?.ended);
    }
  }

  /** Opens a stream once the former one of the path is closed, so that there is one at a time. */
  #open(path: string, query: Query, former: Promise<void> = Promise.resolve()): void {
    const stop = new AbortController();
    const epoch = ++this.#epochs;
    const channel: Channel = {
      path,
      query,
      epoch,
      stop,
      ended: former,
      kept: [],
      seq: 0,
      state: 'connecting',
      message: undefined,
    };
    this.#channels.set(path, channel);
    const ifCurrent =
      <Told extends unknown[]>(act: (...told: Told) => void) =>
      (...told: Told): void => {
        if (this.#channels.get(path) === channel) act(...told);
      };
    const listener = {
      onState: ifCurrent((state: LinkState, message?: string) => {
        Object.assign(channel, { state, message });
        this.#tell(path, toState(channel));
      }),
      onEvent: ifCurrent(({ event, data }: { event: string; data: string }) => {
        if (event === 'reset') channel.kept = [];
        const read = { seq: ++channel.seq, event, data: JSON.parse(data) as unknown };
        channel.kept.push(read);
        if (channel.kept.length > MOST_KEPT) channel.kept.shift();
        this.#tell(path, toMessage(channel, read));
      }),
    };
    const url = `${path}${toSearch(query)}`;
    const deps = { ...this.#deps, signal: stop.signal };
    channel.ended = former.then(() => keepOpen(url, listener, deps));
  }

  #tell(path: string, message: HubMessage): void {
    for (const { post, wants } of this.#tabs.values())
      if (wants.some((want) => want.path === path)) post(message);
  }
}

/** Tells one tab what came since it read last, or everything that is kept where that is not known. */
function catchUp(channel: Channel, read: Place | undefined, post: Post): void {
  const { path, epoch, kept } = channel;
  post(toState(channel));
  const first = kept[0]?.seq ?? channel.seq + 1;
  const knows = read?.epoch === epoch && read.seq >= first - 1;
  if (!knows && read !== undefined) post({ type: 'reset', path, place: { epoch, seq: first - 1 } });
  for (const event of kept) if (!knows || event.seq > read.seq) post(toMessage(channel, event));
}

function toState({ path, state, message }: Channel): HubMessage {
  return { type: 'state', path, state, ...(message !== undefined && { message }) };
}

function toMessage(
  { path, epoch }: Channel,
  { seq, event, data }: Channel['kept'][number],
): HubMessage {
  return event === 'reset'
    ? { type: 'reset', path, place: { epoch, seq } }
    : { type: 'event', path, event, data, place: { epoch, seq } };
}

function toSearch(query: Query): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

import { keepOpen } from './connection.ts';
import type { ConnectionDeps } from './connection.ts';
import { covers, isSame, mergeQueries } from './merge-queries.ts';
import { isSameChannel } from './messages.ts';
import type { Channel, HubMessage, LinkState, Place, TabMessage, Want } from './messages.ts';

/** Events that are kept for tabs that come later. */
const MOST_KEPT = 200;

type Query = Readonly<Record<string, string>>;
type Post = (message: HubMessage) => void;

interface OpenChannel extends Channel {
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

/** Holds one stream for each channel that any tab needs, and sends its events to the tabs. */
export class Hub {
  readonly #deps: ConnectionDeps;
  readonly #tabs = new Map<string, { readonly post: Post; readonly wants: readonly Want[] }>();
  readonly #channels = new Map<string, OpenChannel>();
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
      const channel = this.#channels.get(nameOf(want));
      const had = before.some((one) => isSameChannel(one, want) && isSame(one.query, want.query));
      if (channel && !had) catchUp(channel, want.read, post);
    }
  }

  leave(tab: string): void {
    this.#tabs.delete(tab);
    this.#align();
  }

  /** Opens, closes and widens streams until they are what the tabs need. */
  #align(): void {
    const needed = new Map<string, { channel: Channel; queries: Query[] }>();
    for (const { wants } of this.#tabs.values())
      for (const want of wants) {
        const { queries } = needed.get(nameOf(want)) ?? { queries: [] };
        needed.set(nameOf(want), { channel: want, queries: [...queries, want.query] });
      }
    for (const [name, { stop }] of this.#channels)
      if (!needed.has(name)) {
        stop.abort();
        this.#channels.delete(name);
      }
    for (const [name, { channel, queries }] of needed) {
      const query = mergeQueries(queries);
      const open = this.#channels.get(name);
      if (open && covers(open.query, query) && open.state !== 'signed_out') continue;
      open?.stop.abort();
      this.#open(channel, query, open?.ended);
    }
  }

  /** Opens a stream once the former one of the channel is closed, so that there is one at a time. */
  #open({ path, session }: Channel, query: Query, former: Promise<void> = Promise.resolve()): void {
    const stop = new AbortController();
    const channel: OpenChannel = {
      path,
      session,
      query,
      epoch: ++this.#epochs,
      stop,
      ended: former,
      kept: [],
      seq: 0,
      state: 'connecting',
      message: undefined,
    };
    const name = nameOf(channel);
    this.#channels.set(name, channel);
    const ifCurrent =
      <Told extends unknown[]>(act: (...told: Told) => void) =>
      (...told: Told): void => {
        if (this.#channels.get(name) === channel) act(...told);
      };
    const listener = {
      onState: ifCurrent((state: LinkState, message?: string) => {
        Object.assign(channel, { state, message });
        this.#tell(toState(channel));
      }),
      onEvent: ifCurrent(({ event, data }: { event: string; data: string }) => {
        if (event === 'reset') channel.kept = [];
        const read = { seq: ++channel.seq, event, data: JSON.parse(data) as unknown };
        channel.kept.push(read);
        if (channel.kept.length > MOST_KEPT) channel.kept.shift();
        this.#tell(toMessage(channel, read));
      }),
    };
    const source = { url: `${path}${toSearch(query)}`, session };
    const deps = { ...this.#deps, signal: stop.signal };
    channel.ended = former.then(() => keepOpen(source, listener, deps));
  }

  #tell(message: HubMessage): void {
    for (const { post, wants } of this.#tabs.values())
      if (wants.some((want) => isSameChannel(want, message))) post(message);
  }
}

/** Sends one tab the events since it read last, or all kept ones where that is not known. */
function catchUp(channel: OpenChannel, read: Place | undefined, post: Post): void {
  const { path, session, epoch, kept } = channel;
  post(toState(channel));
  const first = kept[0]?.seq ?? channel.seq + 1;
  const knows = read?.epoch === epoch && read.seq >= first - 1;
  if (!knows && read !== undefined)
    post({ type: 'reset', path, session, place: { epoch, seq: first - 1 } });
  for (const event of kept) if (!knows || event.seq > read.seq) post(toMessage(channel, event));
}

function toState({ path, session, state, message }: OpenChannel): HubMessage {
  return { type: 'state', path, session, state, ...(message !== undefined && { message }) };
}

function toMessage(
  { path, session, epoch }: OpenChannel,
  { seq, event, data }: OpenChannel['kept'][number],
): HubMessage {
  const told = { path, session, place: { epoch, seq } };
  return event === 'reset' ? { type: 'reset', ...told } : { type: 'event', ...told, event, data };
}

function nameOf({ path, session }: Channel): string {
  return `${session} ${path}`;
}

function toSearch(query: Query): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

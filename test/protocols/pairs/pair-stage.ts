import { Buffer } from 'node:buffer';
import type {
  RequestPeek,
  StreamReader,
  Wire as ProviderWire,
  WireProtocol,
} from '../../../src/protocols/protocol.ts';
import type { Protocol } from '../../../src/protocols/registry.ts';
import type { Target } from '../../e2e/matrix/client.ts';
import type { Wire } from '../../fixtures/wire/wire.ts';
import { ANSWER, encodeOptions } from '../../support/protocols.ts';
import { CLIENT_PROTOCOLS, wireTo } from '../spoken.ts';

const PATHS: Readonly<Record<string, Protocol>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};
const GOOGLE_PATH = /^\/v1(?:beta)?\/models\/(.+):(\w+)$/;

/** JSON by the name of a member. */
type Members = Readonly<Record<string, string | undefined>>;

/** One request and its answer, as JSON by the name of each part. */
export interface Turn {
  /** By the client, and as the provider gets it. */
  readonly asked: Members;
  readonly answered: Members;
}

/** The translation without a network: a library's `fetch` that keeps each turn. */
export class PairStage {
  #answers: Wire[] = [];
  turns: Turn[] = [];

  begin(): void {
    this.#answers = [];
    this.turns = [];
  }

  target(provider: Protocol): Target {
    return { url: 'http://gateway.test', key: 'sk-test', model: `acme/${provider}` };
  }

  /** The next answer; of what is a wire, in the form that was asked for. */
  play(...answers: readonly Wire[]): void {
    this.#answers.push(...answers);
  }

  /** Replaces the last turn by what is to be recorded of it. */
  keep(change: (turn: Turn) => Turn): void {
    const last = this.turns.pop();
    if (last) this.turns.push(change(last));
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const text = await request.text();
    const { protocol, peek } = look(new URL(request.url), Buffer.from(text));
    const provider = peek.model.slice('acme/'.length) as Protocol;
    const wire = wireTo(protocol, provider);
    const losses: string[] = [];
    const options = { account: `prov_${provider}`, defaultMaxTokens: 4096, losses };
    const sent = wire.encode(peek, encodeOptions(options)).toString();
    const answer = this.#answers.shift();
    if (!answer) throw new Error('nothing to play');
    const call = { wire, peek, answer, options: { ...ANSWER, account: options.account } };
    const { body, type, answered } = peek.stream ? stream(call) : await read(call);
    this.turns.push({ asked: { request: text, sent, losses: JSON.stringify(losses) }, answered });
    return new Response(body, { headers: { 'content-type': type } });
  };
}

function look(url: URL, body: Buffer): { protocol: WireProtocol; peek: RequestPeek } {
  const path = decodeURIComponent(url.pathname);
  const [called, model = '', operation = ''] = GOOGLE_PATH.exec(path) ?? [];
  const id = called === undefined ? PATHS[path] : 'generate-content';
  const protocol = CLIENT_PROTOCOLS.find((one) => one.id === id);
  if (!protocol) throw new Error(`nothing is served at ${path}`);
  const address = { model, operation, query: url.search.slice(1) };
  return { protocol, peek: protocol.peek(body, called === undefined ? undefined : address) };
}

interface Call {
  wire: ProviderWire;
  peek: RequestPeek;
  answer: Wire;
  options: typeof ANSWER;
}

interface Served {
  body: string;
  type: string;
  answered: Members;
}

async function read({ wire, peek, answer, options }: Call): Promise<Served> {
  const got = await wire.readAnswer(Buffer.from(answer.whole), peek, options);
  if (!got) throw new Error(`no answer: ${answer.whole}`);
  const body = got.body.toString();
  const answered = { ...toPassage(answer.whole, body), ...toFacts(got) };
  return { body, type: 'application/json', answered };
}

function stream({ wire, peek, answer, options }: Call): Served {
  const reader = wire.createStream?.({ ...options, peek });
  if (!reader) throw new Error(`${wire.id} has no streams`);
  const chunks = [...answer.frames.map((frame) => reader.push(Buffer.from(frame))), reader.end()];
  if (reader.failure) throw new Error(reader.failure.message);
  const texts = chunks.map((bytes) => bytes?.toString() ?? '');
  const events = texts.flatMap((text, index) => {
    const [given] = toEvents(answer.frames[index] ?? '');
    const told = toEvents(text);
    if (given === undefined && told.length === 0) return [];
    return toObject(toPassage(given, told.length === 1 ? told[0] : `[${told.join()}]`));
  });
  const answered = { events: `[${events.join()}]`, ...toFacts(reader) };
  return { body: texts.join(''), type: 'text/event-stream', answered };
}

/** What comes of a provider's answer, or of one event of it. */
function toPassage(answer: string | undefined, got: string | undefined): Members {
  return answer === got ? { forwarded: got } : { answer, got };
}

/** What the record of the call holds beside what the client got. */
function toFacts({ usage, losses = [] }: Pick<StreamReader, 'usage' | 'losses'>): Members {
  return {
    usage:
      usage &&
      JSON.stringify({ ...usage, raw: undefined }, (_name, value: unknown) => value || undefined),
    lost: losses.length > 0 ? JSON.stringify(losses) : undefined,
  };
}

/** Every event of a text as JSON; one that is framed otherwise is none. */
function toEvents(text: string): string[] {
  const [...blocks] = text.split('\n\n');
  if (blocks.pop() !== '') throw new Error(`half an event: ${text}`);
  return blocks.map((block) => {
    const [, event, data] = /^(?:event: (\w[\w.]*)\n)?data: (.*)$/.exec(block) ?? [];
    if (data === undefined) throw new Error(`no event: ${block}`);
    const value = data === '[DONE]' ? JSON.stringify(data) : data;
    return event === undefined ? value : toObject({ event: JSON.stringify(event), data: value });
  });
}

export function toObject(members: Members): string {
  const given = Object.entries(members).filter(([, json]) => json !== undefined);
  return `{${given.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join()}}`;
}

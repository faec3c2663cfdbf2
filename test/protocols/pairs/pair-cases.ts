import { REASONING_DETAILS } from '../../fixtures/wire/chat.ts';
import { THOUGHT_SIGNATURE } from '../../fixtures/wire/generate-content.ts';
import { THINKING } from '../../fixtures/wire/messages.ts';
import { WIRES } from '../../fixtures/wire/recorded.ts';
import type { Recorded } from '../../fixtures/wire/recorded.ts';
import { REASONING_ITEM } from '../../fixtures/wire/responses.ts';
import * as words from '../../fixtures/wire/wire.ts';
import type { Wire, WireFixtures } from '../../fixtures/wire/wire.ts';
import type { ClientRow, Dialogue, Question, Result, Said } from '../../e2e/matrix/client.ts';
import { EVERYTHING } from './everything.ts';
import { toObject } from './pair-stage.ts';
import type { PairStage, Turn } from './pair-stage.ts';

/** Members that ask for a stream. */
const STREAMED = /,"stream":true|,"stream_options":\{"include_usage":true\}/g;
const PNG = 'iVBORw0KGgo=';
const RAIN: readonly Result[] = [{ text: 'rain' }, { text: 'snow' }];
const WEATHER: Question = { text: 'weather?', tools: true };
const THINKS: Question = { ...WEATHER, thinks: true };
const JSON_TEXT = '{"city":"Oslo","size":7}';
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, size: { type: 'number' } },
  required: ['city', 'size'],
  additionalProperties: false,
};

/** What proves the reasoning of a provider; no other can read it. */
export const PROOFS: Readonly<Record<Recorded, readonly string[]>> = {
  chat: REASONING_DETAILS.map(({ signature, data }) => signature ?? data ?? ''),
  responses: [REASONING_ITEM.encrypted_content],
  messages: THINKING.map(({ signature, data }) => signature ?? data ?? ''),
  'generate-content': [THOUGHT_SIGNATURE],
};

/** Ids of calls as servers of open models make them. */
const ODD_IDS: Wire = {
  whole: withOddIds(WIRES.chat.twoCalls.whole),
  frames: WIRES.chat.twoCalls.frames.map(withOddIds),
};

function withOddIds(text: string): string {
  return text.replace('"call_a"', '"functions.look:0"').replace('"call_b"', '"functions.look:1"');
}

/** The words of each provider for why it stopped. */
const REASONS: Readonly<Record<Recorded, readonly string[]>> = {
  chat: [
    'stop',
    'length',
    'content_filter',
    'model_length',
    'malformed_function_call',
    'never_heard_of',
  ],
  responses: ['completed', 'max_output_tokens', 'content_filter', 'never_heard_of'],
  messages: [
    'end_turn',
    'max_tokens',
    'stop_sequence',
    'pause_turn',
    'refusal',
    'model_context_window_exceeded',
    'never_heard_of',
  ],
  'generate-content': [
    'STOP',
    'MAX_TOKENS',
    'SAFETY',
    'RECITATION',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'SPII',
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'LANGUAGE',
    'OTHER',
    'TOO_MANY_TOOL_CALLS',
    'NEVER_HEARD_OF',
  ],
};

export interface Side {
  client: ClientRow;
  provider: Recorded;
  stream: boolean;
}

export interface PairCase {
  /** Default: every pair. */
  of?(side: Omit<Side, 'stream'>): boolean;
  /** What the library must show of the first answer, in no protocol's words. */
  shows?: Partial<Pick<Said, 'text' | 'thought'>> & { calls?: readonly { arguments: string }[] };
  /** Plays the turns of the case, and gives what the library made of each answer. */
  play(stage: PairStage, side: Side): Promise<Said[]>;
}

function ask(stage: PairStage, { client, provider }: Side, question: Question): Dialogue {
  return client.open(stage.target(provider), question);
}

interface Kept {
  /** The request alone. */
  asks?: true;
  /** With the answer, also what the library made of it. */
  library?: 'citations' | 'logprobs' | 'usage';
}

/** One question, and where results are given a second turn with them. */
function talk(
  question: Question,
  answer: (wires: WireFixtures) => Wire | undefined,
  rest: Pick<PairCase, 'shows' | 'of'> & Kept & { results?: readonly Result[] } = {},
): PairCase {
  const { results, shows, asks, library, of = () => true } = rest;
  return {
    ...(shows && { shows }),
    of: (side) => answer(WIRES[side.provider]) !== undefined && of(side),
    async play(stage, side) {
      const dialogue = ask(stage, side, question);
      const wires = WIRES[side.provider];
      stage.play(answer(wires) as Wire);
      const first = await dialogue.ask(side.stream);
      if (asks) stage.keep(withoutAnswer);
      if (library) stage.keep((turn) => withLibrary(turn, first[library]));
      if (!results) return [first];
      dialogue.give(results);
      stage.play(wires.said('Well.'));
      const second = await dialogue.ask(side.stream);
      stage.keep(withoutAnswer);
      return [first, second];
    },
  };
}

/** Starts at one provider and goes on at another; kept is what that one gets. */
async function move(
  stage: PairStage,
  side: Side,
  { from, answer, question }: { from: Recorded; answer: Wire; question: Question },
): Promise<Said> {
  const turns = [...stage.turns];
  const dialogue = ask(stage, { ...side, provider: from }, question);
  stage.play(answer);
  await dialogue.ask(side.stream);
  stage.turns = [];
  dialogue.give(RAIN.slice(0, question.thinks ? 1 : 2));
  dialogue.moveTo(stage.target(side.provider).model);
  stage.play(WIRES[side.provider].said('Well.'));
  const said = await dialogue.ask(side.stream);
  stage.keep(({ asked: { sent, losses } }) => ({
    asked: { from: JSON.stringify(from), sent, losses },
    answered: {},
  }));
  stage.turns.unshift(...turns);
  return said;
}

function withLibrary({ asked, answered }: Turn, made: unknown): Turn {
  return { asked, answered: { ...answered, library: JSON.stringify(made) } };
}

function withoutAnswer({ asked }: Turn): Turn {
  return { asked, answered: {} };
}

/** The turns of both forms as JSON; a request that differs in its form alone is kept once. */
export function toText(forms: Readonly<Record<string, readonly Turn[]>>): string {
  const seen = new Set<string>();
  const toTurn = ({ asked, answered }: Turn): string => {
    const key = Object.values(asked).join().replaceAll(STREAMED, '');
    const isKnown = seen.has(key);
    seen.add(key);
    return toObject({ ...(!isKnown && asked), ...answered });
  };
  const texts = Object.entries(forms).map(([form, turns]) => {
    const kept = turns.map(toTurn).filter((turn) => turn !== '{}');
    return [form, `[${kept.join()}]`];
  });
  return toObject(Object.fromEntries(texts));
}

/** Every case by the name of its file. */
export const PAIR_CASES: Readonly<Record<string, PairCase>> = {
  'two-calls': talk(WEATHER, ({ twoCalls }) => twoCalls, {
    results: RAIN,
    shows: { text: words.SAID, calls: words.TWO_CALLS },
  }),
  'three-calls': talk(WEATHER, ({ threeCalls }) => threeCalls, {
    results: [
      { text: 'rain' },
      { text: 'see', imageData: PNG },
      { text: 'no such city', isError: true },
    ],
    shows: { text: '', calls: words.THREE_CALLS },
  }),
  reasoned: talk(THINKS, ({ reasoned }) => reasoned, {
    results: [{ text: 'sunny' }],
    shows: { text: '', thought: words.THOUGHT, calls: [words.THOUGHTFUL_CALL] },
  }),
  woven: talk(THINKS, ({ woven }) => woven, {
    results: RAIN,
    shows: { text: words.SAID, calls: words.TWO_CALLS },
  }),
  cited: talk({ text: 'where?' }, ({ cited }) => cited, {
    shows: { text: words.CITED },
    library: 'citations',
  }),
  counted: talk({ text: 'go' }, ({ counted }) => counted, {
    shows: { text: words.COUNTED },
    library: 'usage',
  }),
  weighed: talk({ text: 'go', logprobs: 2 }, ({ weighed }) => weighed, {
    shows: { text: 'yes!' },
    library: 'logprobs',
  }),
  refused: talk({ text: 'go' }, ({ refused }) => refused),
  schema: talk({ text: 'a city', schema: SCHEMA }, ({ said }) => said(JSON_TEXT), {
    shows: { text: JSON_TEXT },
    asks: true,
  }),
  'stop-sequences': talk({ text: 'go', stop: ['HALT', 'END'] }, ({ said }) => said('Well.'), {
    of: ({ client }) => client.asksToStop,
    asks: true,
  }),
  'image-data': talk({ text: 'what is it?', imageData: PNG }, ({ said }) => said('A cat.'), {
    asks: true,
  }),
  'image-url': talk(
    { text: 'what is it?', imageUrl: 'https://example.com/cat.png' },
    ({ said }) => said('A cat.'),
    { asks: true },
  ),
  /** Each word of the provider for why it stopped, and the client's for it. */
  ends: {
    async play(stage, side) {
      const said: Said[] = [];
      for (const reason of REASONS[side.provider]) {
        stage.play(WIRES[side.provider].ended(reason));
        said.push(await ask(stage, side, { text: 'go' }).ask(side.stream));
      }
      const stops = said.map(({ stop }, index) => [
        REASONS[side.provider][index],
        JSON.stringify(stop),
      ]);
      stage.turns = [{ asked: {}, answered: Object.fromEntries(stops) }];
      return said;
    },
    shows: { text: words.ENDED },
  },
  /** All that some other protocol cannot say. */
  everything: {
    async play(stage, side) {
      const { client, stream } = side;
      const { url, model } = stage.target(side.provider);
      const { path, body: plain } = stream ? client.streamed(model) : client.request(model);
      const { body } = client.request(model, EVERYTHING[client.id as Recorded]);
      stage.play(WIRES[side.provider].said('fine'));
      const text = JSON.stringify({ ...body, ...('stream' in plain && { stream }) });
      await stage.fetch(url + path, { method: 'POST', body: text });
      stage.keep(withoutAnswer);
      return [];
    },
  },
  'odd-ids': {
    play: async (stage, side) => [
      await move(stage, side, { from: 'chat', answer: ODD_IDS, question: WEATHER }),
    ],
  },
  /** Of Responses a conversation with reasoning stays with its account (requirement routing.affinity.responses). */
  moved: {
    of: ({ client }) => client.id !== 'responses',
    async play(stage, side) {
      const said: Said[] = [];
      for (const from of Object.keys(WIRES) as Recorded[]) {
        if (from === side.provider) continue;
        const answer = WIRES[from].reasoned;
        said.push(await move(stage, side, { from, answer, question: THINKS }));
      }
      return said;
    },
  },
};

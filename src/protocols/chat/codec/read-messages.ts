import { eachInSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import type { Part, ToolCallPart, Turn } from '../../canonical/canonical.ts';
import { withoutOrphans } from '../../canonical/orphan-results.ts';
import {
  defined,
  invalid,
  readList,
  readText,
  requireObject,
  requireText,
} from '../../json-fields.ts';
import type { Members } from '../../json-fields.ts';
import { readCitations } from './annotations.ts';
import { readContent, readTexts } from './read-content.ts';
import { OF_CONTENT, readReasoning } from './reasoning-details.ts';
import type { ReadReasoning } from './reasoning-details.ts';

/** The conversation in the client's order; neighbouring tool results are one turn. */
export function* readMessages(messages: unknown, unmapped: string[]): Steps<Turn[]> {
  if (!Array.isArray(messages)) throw invalid('messages', 'an array');
  const reader = new MessageReader(unmapped);
  yield* eachInSteps(messages as readonly unknown[], (message, index) => {
    const param = `messages[${index}]`;
    reader.add(requireObject(message, param), param);
  });
  return yield* withoutOrphans(reader.turns, reader.results, (path) => unmapped.push(path));
}

interface GrowingTurn extends Turn {
  readonly parts: Part[];
}

class MessageReader {
  readonly turns: GrowingTurn[] = [];
  readonly results = new Map<Part, string>();
  readonly #unmapped: string[];
  /** Calls of the older form, which have no id: the last one by function. */
  readonly #unnamed = new Map<string, string>();

  constructor(unmapped: string[]) {
    this.#unmapped = unmapped;
  }

  add(message: Members, param: string): void {
    const role = message['role'];
    const place = { param: `${param}.content`, unmapped: this.#unmapped };
    const name = readText(message['name'], `${param}.name`);
    switch (role) {
      case 'system':
      case 'developer':
        this.turns.push({
          role,
          parts: readTexts(message['content'], place),
          ...defined({ name }),
        });
        return;
      case 'user':
        this.turns.push({
          role,
          parts: readContent(message['content'], place),
          ...defined({ name }),
        });
        return;
      case 'assistant':
        this.turns.push({ role, parts: this.#assistant(message, param), ...defined({ name }) });
        return;
      case 'tool':
        this.#addResult(requireText(message['tool_call_id'], `${param}.tool_call_id`), {
          message,
          param,
        });
        return;
      case 'function': {
        const called = requireText(message['name'], `${param}.name`);
        this.#addResult(this.#unnamed.get(called) ?? called, { message, param });
        return;
      }
      default:
        throw invalid(`${param}.role`, 'system, developer, user, assistant or tool');
    }
  }

  #addResult(callId: string, { message, param }: { message: Members; param: string }): void {
    const place = { param: `${param}.content`, unmapped: this.#unmapped };
    const content = readTexts(message['content'], place);
    const name = readText(message['name'], `${param}.name`);
    const part: Part = {
      type: 'tool_result',
      callId,
      content,
      isError: false,
      ...defined({ name }),
    };
    this.results.set(part, `${param}.${String(message['role'])}`);
    const last = this.turns.at(-1);
    if (last?.role === 'tool') last.parts.push(part);
    else this.turns.push({ role: 'tool', parts: [part] });
  }

  #assistant(message: Members, param: string): Part[] {
    const place = { param: `${param}.content`, unmapped: this.#unmapped };
    const content = readContent(message['content'], place).filter(
      (part) => part.type !== 'text' || part.text !== '',
    );
    const said = this.#cite(content, message, param);
    const refusal = readText(message['refusal'], `${param}.refusal`);
    if (refusal) said.push({ type: 'refusal', text: refusal });
    if (message['audio'] !== undefined && message['audio'] !== null)
      this.#unmapped.push(`${param}.audio`);
    return placeReasoning(readReasoning(message, true), said, this.#calls(message, param));
  }

  /** Offsets of sources are in the whole content, so they are kept where that is one text. */
  #cite(content: Part[], message: Members, param: string): Part[] {
    const listed = readList(message['annotations'], `${param}.annotations`) ?? [];
    const citations = readCitations(message);
    const [text, ...others] = content;
    const isOne = text?.type === 'text' && others.length === 0;
    if (listed.length > (isOne ? citations.length : 0)) this.#unmapped.push(`${param}.annotations`);
    return isOne && citations.length > 0 ? [{ ...text, citations }] : content;
  }

  #calls(message: Members, param: string): ToolCallPart[] {
    const calls = readList(message['tool_calls'], `${param}.tool_calls`) ?? [];
    const read = calls.map((call, index) => {
      const at = `${param}.tool_calls[${index}]`;
      return readCall(requireObject(call, at), at);
    });
    const older = message['function_call'];
    if (older === undefined || older === null) return read;
    const id = `${param.replace(/\W+/g, '_')}call`;
    const call = readFunction(requireObject(older, `${param}.function_call`), {
      id,
      at: `${param}.function_call`,
    });
    this.#unnamed.set(call.name, id);
    return [...read, call];
  }
}

function readCall(call: Members, at: string): ToolCallPart {
  const id = requireText(call['id'], `${at}.id`);
  if (call['type'] !== 'custom')
    return readFunction(requireObject(call['function'], `${at}.function`), {
      id,
      at: `${at}.function`,
    });
  const custom = requireObject(call['custom'], `${at}.custom`);
  return {
    type: 'tool_call',
    id,
    name: requireText(custom['name'], `${at}.custom.name`),
    arguments: requireText(custom['input'], `${at}.custom.input`),
    custom: true,
  };
}

function readFunction(called: Members, { id, at }: { id: string; at: string }): ToolCallPart {
  const given = called['arguments'] ?? '';
  return {
    type: 'tool_call',
    id,
    name: requireText(called['name'], `${at}.name`),
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  };
}

/** Puts parts in the one order that a message has, each signature before its part. */
function placeReasoning(
  reasoning: readonly ReadReasoning[],
  said: readonly Part[],
  calls: readonly ToolCallPart[],
): Part[] {
  const owned = new Map<string, Part[]>(
    [OF_CONTENT, ...calls.map(({ id }) => id)].map((id) => [id, []]),
  );
  const free: Part[] = [];
  for (const { part, of } of reasoning) {
    const own = of === undefined ? undefined : owned.get(of);
    if (own) own.push({ ...part, ofNext: true });
    else free.push(part);
  }
  // Takes each id once, however many calls have it.
  const before = (of: string): readonly Part[] => {
    const own = owned.get(of) ?? [];
    owned.delete(of);
    return own;
  };
  return [
    ...free,
    ...(said.length > 0 ? before(OF_CONTENT) : []),
    ...said,
    ...calls.flatMap((call) => [...before(call.id), call]),
  ];
}

import { customText, TEXT_ARGUMENT, toFunctionCall } from '../capabilities/fit-custom-tools.ts';
import type { AnswerEvent } from './stream.ts';
import type { Part, ToolCallPart } from './canonical.ts';

/** Most characters of arguments that wait for their end. */
const MAX_HELD = 8 * 1024 * 1024;

type Names = ReadonlySet<string> | undefined;
type CallOpening = Omit<ToolCallPart, 'arguments'>;

/**
 * An answer's part, with the call of a custom tool as such though it was called as a function, and the
 * call of a function as such though the provider made a custom call of it.
 */
export function asCustomCall(part: Part, custom: Names): Part {
  if (part.type !== 'tool_call') return part;
  const isCustom = custom?.has(part.name) === true;
  if (isCustom === (part.custom === true)) return part;
  if (!isCustom) return toFunctionCall(part);
  return { ...part, arguments: customText(part.arguments), custom: true };
}

/** The same for streams, event by event; parts must come one after the other. */
export class CustomCalls {
  readonly #custom: Names;
  #held: { readonly part: number; readonly call: ToolCallPart } | undefined;
  /** Part of a custom call whose text becomes an argument. */
  #wrapped: number | undefined;

  constructor(custom: Names) {
    this.#custom = custom;
  }

  push(event: AnswerEvent): readonly AnswerEvent[] {
    if (event.type === 'open') return this.#open(event);
    if ('part' in event && event.part === this.#wrapped) return this.#wrap(event);
    const { part, call } = this.#held ?? {};
    if (!call || !('part' in event) || event.part !== part) return [event];
    if (event.type === 'delta') {
      const text = call.arguments + event.text;
      this.#held = { part, call: { ...call, arguments: text } };
      return text.length > MAX_HELD ? this.#tell() : [];
    }
    return event.type === 'close' ? [...this.#tell(), event] : [event];
  }

  #open(event: Extract<AnswerEvent, { type: 'open' }>): readonly AnswerEvent[] {
    const { part, opening } = event;
    if (opening.type !== 'tool_call') return [event];
    const isCustom = this.#custom?.has(opening.name) === true;
    if (isCustom === (opening.custom === true)) return [event];
    if (!isCustom) return this.#openWrapped(part, opening);
    this.#held = { part, call: { ...opening, arguments: '' } };
    return [];
  }

  #openWrapped(part: number, { custom: _custom, ...opening }: CallOpening): readonly AnswerEvent[] {
    this.#wrapped = part;
    return [
      { type: 'open', part, opening },
      { type: 'delta', part, text: `{"${TEXT_ARGUMENT}":"` },
    ];
  }

  /** Each piece of the text as it is spelled in JSON. */
  #wrap(event: AnswerEvent & { part: number }): readonly AnswerEvent[] {
    if (event.type === 'delta')
      return [{ ...event, text: JSON.stringify(event.text).slice(1, -1) }];
    if (event.type !== 'close') return [event];
    this.#wrapped = undefined;
    return [{ type: 'delta', part: event.part, text: '"}' }, event];
  }

  #tell(): readonly AnswerEvent[] {
    if (!this.#held) return [];
    const { part, call } = this.#held;
    this.#held = undefined;
    const { id, name, arguments: json } = call;
    const text = customText(json);
    return [
      { type: 'open', part, opening: { type: 'tool_call', id, name, custom: true } },
      ...(text === '' ? [] : [{ type: 'delta' as const, part, text }]),
    ];
  }
}

import { customText } from '../capabilities/fit-custom-tools.ts';
import type { AnswerEvent } from './stream.ts';
import type { Part, ToolCallPart } from './canonical.ts';

/** Most characters of arguments that wait for their end. */
const MAX_HELD = 8 * 1024 * 1024;

type Names = ReadonlySet<string> | undefined;

/** An answer's part, with the call of a custom tool as such though it was called as a function. */
export function asCustomCall(part: Part, custom: Names): Part {
  if (part.type !== 'tool_call' || part.custom || !custom?.has(part.name)) return part;
  return { ...part, arguments: customText(part.arguments), custom: true };
}

/** The same for streams, event by event; parts must come one after the other. */
export class CustomCalls {
  readonly #custom: Names;
  #held: { readonly part: number; readonly call: ToolCallPart } | undefined;

  constructor(custom: Names) {
    this.#custom = custom;
  }

  push(event: AnswerEvent): readonly AnswerEvent[] {
    if (event.type === 'open') return this.#open(event);
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
    const isOne = opening.type === 'tool_call' && !opening.custom;
    if (!isOne || !this.#custom?.has(opening.name)) return [event];
    this.#held = { part, call: { ...opening, arguments: '' } };
    return [];
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

import { RawJson } from '../../core/json/raw.ts';
import { isJsonObject, parseJsonObject } from '../../core/json/value.ts';
import { fieldOf, listOf, textOf } from './fields.ts';
import type { Members } from './fields.ts';

/** Bounds what a provider can make the gateway build of one call. */
const MAX_INDEX = 10_000;
const MAX_DEPTH = 100;
const MAX_SIZE = 16 * 1024 * 1024;

/**
 * Joins the pieces of calls whose arguments are streamed: each piece names the positions of its
 * values by JSON paths, a text may come in several, and the last piece is the one that nothing
 * follows.
 */
export class CallPieces {
  #growing: PartialCall | undefined;

  /** The parts that are whole now, in their order. */
  take(part: Members): Members[] {
    const call = fieldOf(part, 'functionCall');
    if (!isJsonObject(call)) return [...this.flush(), part];
    const isOther = textOf(call, 'name') !== undefined && !this.#growing?.isOf(call);
    const ended = isOther ? this.flush() : [];
    if (!this.#growing && !isPiece(call)) return [...ended, part];
    this.#growing ??= new PartialCall(part, call);
    return this.#growing.add(call) ? [...ended, ...this.flush()] : ended;
  }

  /** The call that was cut off, as far as it came. */
  flush(): Members[] {
    const call = this.#growing;
    this.#growing = undefined;
    return call ? [call.whole] : [];
  }
}

function isPiece(call: Members): boolean {
  return fieldOf(call, 'willContinue') === true || Array.isArray(fieldOf(call, 'partialArgs'));
}

class PartialCall {
  readonly #part: Members;
  readonly #call: Members;
  #args: unknown;
  #size = 0;

  constructor(part: Members, call: Members) {
    this.#part = part;
    this.#call = call;
    const args = fieldOf(call, 'args');
    this.#args = args instanceof RawJson ? parseJsonObject(args.text) : args;
  }

  /** True where a piece that names its call continues this one. */
  isOf(piece: Members): boolean {
    const isSame = (name: string): boolean =>
      piece[name] === undefined || piece[name] === this.#call[name];
    return isPiece(piece) && isSame('name') && isSame('id');
  }

  /** Adds what a piece holds. True when it was the last one. */
  add(piece: Members): boolean {
    for (const arg of listOf(piece, 'partialArgs')) {
      const steps = stepsOf(textOf(arg, 'jsonPath') ?? '');
      const value = valueOf(arg);
      if (!steps || value === undefined) continue;
      this.#size += sizeOf(value) + steps.reduce<number>((sum, step) => sum + sizeOf(step), 0);
      if (this.#size <= MAX_SIZE) this.#args = put(this.#args, steps, value);
    }
    return fieldOf(piece, 'willContinue') !== true;
  }

  /** The part as it would have come whole. */
  get whole(): Members {
    const { id, name } = this.#call;
    const functionCall = { ...(id !== undefined && { id }), name, args: this.#args ?? {} };
    return { ...this.#part, functionCall };
  }
}

type Step = string | number;

/** Names and indexes of a path such as `$.a.b[0]['c d']`; undefined for any other expression. */
function stepsOf(path: string): Step[] | undefined {
  const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  step.lastIndex = path.startsWith('$') ? 1 : 0;
  const steps: Step[] = [];
  while (step.lastIndex < path.length) {
    const [, name, index, single, double] = step.exec(path) ?? [];
    const quoted = single ?? double;
    if (index !== undefined) steps.push(Number(index));
    else if (name !== undefined) steps.push(name);
    else if (quoted !== undefined) steps.push(quoted.replace(/\\(.)/g, '$1'));
    else return undefined;
  }
  const isSound = steps.every((one) => typeof one === 'string' || one <= MAX_INDEX);
  return steps.length > 0 && steps.length <= MAX_DEPTH && isSound ? steps : undefined;
}

/** Weight of a value, or of the list before an index. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'number' ? Math.max(1, Math.min(value, MAX_INDEX)) : 1;
}

function valueOf(arg: Members): unknown {
  if (fieldOf(arg, 'nullValue') !== undefined) return null;
  return ['stringValue', 'numberValue', 'boolValue']
    .map((name) => fieldOf(arg, name))
    .find((value) => value !== undefined && value !== null);
}

/** The value with another one put into it; a text continues one that is there already. */
function put(into: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined)
    return typeof into === 'string' && typeof value === 'string' ? into + value : value;
  if (typeof step === 'number') {
    const list: unknown[] = Array.isArray(into) ? into : [];
    while (list.length < step) list.push(null);
    list[step] = put(list[step], rest, value);
    return list;
  }
  const object: Record<string, unknown> = isJsonObject(into) ? into : {};
  Object.defineProperty(object, step, {
    value: put(Object.hasOwn(object, step) ? object[step] : undefined, rest, value),
    configurable: true,
    enumerable: true,
    writable: true,
  });
  return object;
}

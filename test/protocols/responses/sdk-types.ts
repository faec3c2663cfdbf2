import { readFileSync } from 'node:fs';

/** Stands for a value that the type leaves to the user; what is inside of it is nobody's extension. */
export class Open {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** An object under names of the user's own. */
export class UserMap {
  readonly entries: [string, unknown][];

  constructor(entries: [string, unknown][]) {
    this.entries = entries;
  }
}

type Declaration =
  | { kind: 'alias'; type: Type; scope: string }
  | { kind: 'interface'; bases: string[]; members: [string, Type][]; scope: string };

type Type =
  | { kind: 'value'; value: unknown }
  | { kind: 'open' }
  | { kind: 'union'; types: Type[] }
  | { kind: 'array'; element: Type }
  | { kind: 'map'; element: Type }
  | { kind: 'name'; name: string };

const TOKENS = /'(?:[^'\\]|\\.)*'|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*|\d+|[^\s]/g;
const SCALARS: Record<string, unknown> = {
  string: 'text',
  number: 0.5,
  boolean: true,
  null: null,
  undefined: null,
};

/**
 * Reads the type declarations of an official client and makes values of its types, so that a test can
 * say "every member of the official type" and mean it.
 */
export class SdkTypes {
  readonly #declarations = new Map<string, Declaration>();
  #tokens: string[] = [];
  #at = 0;

  constructor(...files: URL[]) {
    for (const file of files) {
      const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
      this.#tokens = text.match(TOKENS) ?? [];
      this.#at = 0;
      while (this.#at < this.#tokens.length) this.#declaration('');
    }
  }

  /** Values that together have every member and every alternative of the type, at any depth. */
  samples(name: string): unknown[] {
    return this.#samples({ kind: 'name', name }, '', 0);
  }

  #samples(type: Type, scope: string, depth: number): unknown[] {
    if (type.kind === 'value') return [type.value];
    if (type.kind === 'open' || depth > 64) return [new Open({ any: { thing: 1 } })];
    if (type.kind === 'union')
      return type.types.flatMap((one) => this.#samples(one, scope, depth + 1));
    if (type.kind === 'array') return [this.#samples(type.element, scope, depth + 1)];
    if (type.kind === 'map') {
      const values = this.#samples(type.element, scope, depth + 1);
      return [new UserMap(values.map((value, i) => [`name ${i}`, value]))];
    }
    const found = this.#find(type.name, scope);
    if (found.kind === 'alias') return this.#samples(found.type, found.scope, depth + 1);
    return this.#objects(found, depth);
  }

  #objects(found: Declaration & { kind: 'interface' }, depth: number): unknown[] {
    const members = this.#membersOf(found).map(
      ([name, type, scope]) => [name, thin(name, this.#samples(type, scope, depth + 1))] as const,
    );
    const count = Math.max(1, ...members.map(([, values]) => values.length));
    return Array.from({ length: count }, (_, i) =>
      Object.fromEntries(members.map(([name, values]) => [name, values[i % values.length]])),
    );
  }

  #membersOf({
    bases,
    members,
    scope,
  }: Declaration & { kind: 'interface' }): [string, Type, string][] {
    const own = members.map(([name, type]): [string, Type, string] => [name, type, scope]);
    const inherited = bases.flatMap((base) => {
      const found = this.#find(base, scope);
      return found.kind === 'interface' ? this.#membersOf(found) : [];
    });
    return [...inherited, ...own];
  }

  #find(name: string, scope: string): Declaration {
    const bare = name.replace(/^(?:Shared|ResponsesAPI|[A-Za-z]+API)\./, '');
    for (let at = scope; ; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
      const found = this.#declarations.get(at === '' ? bare : `${at}.${bare}`);
      if (found) return found;
      if (at === '') throw new Error(`no type ${name} in ${scope}`);
    }
  }

  #declaration(scope: string): void {
    const word = this.#take();
    if (word === 'interface') this.#interface(scope);
    else if (word === 'namespace') this.#namespace(scope);
    else if (word === 'type' && this.#tokens[this.#at + 1] === '=') {
      const name = this.#qualify(scope, this.#take());
      this.#take();
      this.#declarations.set(name, { kind: 'alias', type: this.#type(), scope: name });
    } else if (word === '{') this.#skipBlock();
  }

  #namespace(scope: string): void {
    const name = this.#qualify(scope, this.#take());
    this.#expect('{');
    while (this.#peek() !== '}') this.#declaration(name);
    this.#take();
  }

  #interface(scope: string): void {
    const name = this.#qualify(scope, this.#take());
    const bases: string[] = [];
    if (this.#peek() === '<') while (this.#take() !== '>');
    if (this.#peek() === 'extends') {
      while (this.#peek() !== '{') bases.push(this.#take());
    }
    const members = this.#members();
    this.#declarations.set(name, {
      kind: 'interface',
      bases: bases.filter((base) => /^\w[\w.]*$/.test(base) && base !== 'extends'),
      members,
      scope: name,
    });
  }

  #members(): [string, Type][] {
    this.#expect('{');
    const members: [string, Type][] = [];
    while (this.#peek() !== '}') {
      const name = this.#take().replaceAll("'", '');
      if (this.#peek() === '?') this.#take();
      this.#expect(':');
      members.push([name, this.#type()]);
      if (this.#peek() === ';') this.#take();
    }
    this.#take();
    return members;
  }

  #type(): Type {
    const types: Type[] = [];
    do {
      if (this.#peek() === '|') this.#take();
      types.push(this.#operand());
    } while (this.#peek() === '|');
    // What may be anything may be anything, whatever else it is said to be.
    const open = types.find(({ kind }) => kind === 'open');
    return open ?? (types.length === 1 ? (types[0] as Type) : { kind: 'union', types });
  }

  #operand(): Type {
    let type = this.#primary();
    while (this.#peek() === '[') {
      this.#take();
      this.#expect(']');
      type = { kind: 'array', element: type };
    }
    return type;
  }

  #primary(): Type {
    const word = this.#take();
    if (word.startsWith("'")) return { kind: 'value', value: word.slice(1, -1) };
    if (/^\d/.test(word)) return { kind: 'value', value: Number(word) };
    if (word === '(') {
      // `(string & {})`
      while (this.#take() !== ')');
      return { kind: 'value', value: 'text' };
    }
    if (word === '{') return this.#map();
    if (Object.hasOwn(SCALARS, word)) return { kind: 'value', value: SCALARS[word] };
    if (word === 'unknown' || word === 'any') return { kind: 'open' };
    return this.#named(word);
  }

  /** `{ [key: string]: … }`, the only literal that the declarations use. */
  #map(): Type {
    for (const token of ['[', 'key', ':', 'string', ']', ':']) this.#expect(token);
    const element = this.#type();
    if (this.#peek() === ';') this.#take();
    this.#expect('}');
    return { kind: 'map', element };
  }

  #named(name: string): Type {
    if (this.#peek() !== '<') return { kind: 'name', name };
    this.#take();
    const first = this.#type();
    while (this.#take() !== '>');
    return name === 'Array' ? { kind: 'array', element: first } : { kind: 'open' };
  }

  #skipBlock(): void {
    for (let depth = 1; depth > 0;) {
      const word = this.#take();
      if (word === '{') depth++;
      else if (word === '}') depth--;
    }
  }

  #qualify(scope: string, name: string): string {
    return scope === '' ? name : `${scope}.${name}`;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  #take(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new Error('the declarations end too early');
    return token;
  }

  #expect(token: string): void {
    const found = this.#take();
    if (found !== token) throw new Error(`${found} instead of ${token}`);
  }
}

/** One scalar stands for all, but where it says what kind of object it is in. */
function thin(name: string, values: unknown[]): unknown[] {
  const first = values.find(isScalar);
  return name === 'type' ? values : values.filter((one) => one === first || !isScalar(one));
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

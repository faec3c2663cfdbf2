import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, visit } from 'yaml';
import type { Alias, CST, Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Diagnostic, Place } from './diagnostic.ts';
import type { ConfigSource } from '../read/load.ts';
import type { Places } from './locate.ts';

const MAX_DEPTH = 64;
const MAX_NODES = 200_000;
/** Most faults of one document that are reported. */
const MAX_FAULTS = 100;
/** See {@link tokensOf}; more than the largest file of sound configuration has. */
const MAX_STEPS = 2_000_000;
const NO_TARGETS: ReadonlyMap<Alias, Node> = new Map<Alias, Node>();
const LF = 10;
const BACKSLASH = 92;

/** One YAML document as plain values; their positions are in the {@link Places} given. */
export interface ParsedDocument {
  readonly source: ConfigSource;
  readonly value: unknown;
  /** Start of its content. */
  readonly place: Place;
}

/**
 * Parses YAML 1.2 (JSON is a part of it): several documents, anchors and `<<` merges. Duplicate
 * keys, unknown tags and keys that are no scalars are errors. Bounded: 64 levels and 200,000 values
 * after aliases are expanded, so a small file cannot grow without limit, and `maxSteps` tokens
 * and values.
 */
export function parseYaml(
  source: ConfigSource,
  places: Places,
  { maxSteps = MAX_STEPS }: { maxSteps?: number } = {},
): { documents: ParsedDocument[]; diagnostics: Diagnostic[] } {
  const lines = new LineCounter();
  const diagnostics: Diagnostic[] = [];
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file: source.file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const report = (offset: number, message: string, hint?: string) =>
    diagnostics.push({
      ...at(offset),
      path: '',
      severity: 'error',
      message,
      ...(hint && { hint }),
    });

  const tokens = tokensOf(source.text, lines, maxSteps);
  if (tokens === undefined) {
    report(0, `more than ${maxSteps} words, signs and lines`);
    return { documents: [], diagnostics };
  }
  const tooDeep = deepToken(tokens);
  if (tooDeep !== undefined) {
    report(tooDeep, `nested more than ${MAX_DEPTH} levels deep`);
    return { documents: [], diagnostics };
  }
  const composer = new Composer({ uniqueKeys: false, logLevel: 'silent' });
  const documents: ParsedDocument[] = [];
  const most = Math.min(MAX_NODES, maxSteps);
  const budget = { most, left: most };
  for (const document of composer.compose(tokens, false, source.text.length)) {
    reportSyntax(document, source.text, report);
    if (document.errors.length + document.warnings.length > 0 || isEmpty(document)) continue;
    // A text without a `*` holds no alias.
    const targets = source.text.includes('*') ? aliasTargets(document) : NO_TARGETS;
    const converter = new Converter({ targets, places, at, report, budget });
    const place = at(startOf(document.contents));
    documents.push({ source, place, value: converter.convert(document.contents) });
  }
  return { documents, diagnostics };
}

/**
 * Undefined for a text of too many steps: lexical tokens, and the line breaks and escapes within them.
 * Each takes microseconds, during which nothing else happens.
 */
function tokensOf(text: string, lines: LineCounter, maxSteps: number): CST.Token[] | undefined {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let steps = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    steps += 1;
    for (let at = 0; at < lexeme.length; at++) {
      const code = lexeme.charCodeAt(at);
      if (code === LF || code === BACKSLASH) steps += 1;
    }
    if (steps > maxSteps) return undefined;
    tokens.push(...parser.next(lexeme));
  }
  tokens.push(...parser.end());
  return tokens;
}

type Report = (offset: number, message: string, hint?: string) => void;

function isEmpty(document: Document): boolean {
  const { contents } = document;
  return contents === null || (isScalar(contents) && contents.value === null && !contents.source);
}

interface SyntaxToken {
  offset?: number;
  items?: unknown[];
  key?: unknown;
  value?: unknown;
}

/** The composer recurses, so depth is judged before it on the flat syntax tokens. */
function deepToken(tokens: readonly unknown[]): number | undefined {
  const stack = tokens.map((token) => ({ token, depth: 0, offset: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const token = next.token as SyntaxToken | undefined | null;
    if (typeof token !== 'object' || token === null) continue;
    const { depth } = next;
    const offset = token.offset ?? next.offset;
    if (depth > MAX_DEPTH) return offset;
    for (const child of [token.value, token.key]) stack.push({ token: child, depth, offset });
    for (const item of token.items ?? []) stack.push({ token: item, depth: depth + 1, offset });
  }
  return undefined;
}

/** One error per line, and one where the parser lost its way: the rest are consequences. */
function reportSyntax(document: Document, text: string, report: Report): void {
  const seen = new Set<number>();
  for (const { pos, message } of [...document.errors, ...document.warnings].slice(0, MAX_FAULTS)) {
    const start = text.lastIndexOf('\n', pos[0] - 1) + 1;
    const isAstray = message.includes('in YAML stream');
    if (seen.has(start) || (isAstray && seen.size > 0)) continue;
    seen.add(start);
    const line = text.slice(start, (text.indexOf('\n', pos[0]) + 1 || text.length + 1) - 1);
    const star = /^[^'"#]*?(?:[:-]\s+|^\s*)(?=\*)/.exec(line);
    if (star !== null && /\s/.test(line.slice(star[0].length).trim())) {
      const value = line
        .slice(star[0].length)
        .replace(/(?<!\s)\s+#.*$/, '')
        .trim();
      report(
        start + star[0].length,
        'an unquoted * starts an alias, not a text',
        `write '${value}'`,
      );
    } else {
      report(pos[0], message);
    }
  }
}

/** Target of each alias: the last node before it that has its anchor. */
function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchored = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias(_key, alias) {
      const target = anchored.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value(_key, node) {
      if (node.anchor !== undefined) anchored.set(node.anchor, node);
    },
  });
  return targets;
}

interface ConverterOptions {
  targets: ReadonlyMap<Alias, Node>;
  places: Places;
  at: (offset: number) => Place;
  report: Report;
  /** Values. */
  budget: { readonly most: number; left: number };
}

/** Turns the nodes of one document into plain values; every alias is expanded to a copy. */
class Converter {
  readonly #options: ConverterOptions;
  /** Anchors being expanded, so that one that contains itself is seen. */
  readonly #expanding = new Set<Node>();

  constructor(options: ConverterOptions) {
    this.#options = options;
  }

  convert(node: Node | null): unknown {
    const { budget, targets, report } = this.#options;
    if (node === null) return null;
    if (budget.left-- <= 0) {
      if (budget.left === -1) report(startOf(node), `more than ${budget.most} values`);
      return null;
    }
    if (isAlias(node)) {
      const target = targets.get(node);
      if (target === undefined) {
        report(startOf(node), `no anchor is named ${node.source}`, `quote it if it is text`);
        return null;
      }
      if (this.#expanding.has(target)) {
        report(startOf(node), `the anchor ${node.source} contains itself`);
        return null;
      }
      if (this.#expanding.size > MAX_DEPTH) {
        report(startOf(node), `nested more than ${MAX_DEPTH} levels deep`);
        return null;
      }
      return this.#guarded(target);
    }
    if (isMap(node) || isSeq(node)) return this.#guarded(node);
    return this.#scalar(node);
  }

  #guarded(node: Node): unknown {
    this.#expanding.add(node);
    const value = isMap(node)
      ? this.#map(node)
      : isSeq(node)
        ? this.#list(node)
        : this.#scalar(node as Scalar);
    this.#expanding.delete(node);
    return value;
  }

  #scalar(node: Scalar): unknown {
    if (typeof node.value === 'number' && !Number.isFinite(node.value)) {
      this.#options.report(startOf(node), 'not a finite number');
    }
    return node.value;
  }

  #list(node: YAMLSeq): unknown[] {
    const { places, at } = this.#options;
    const list: unknown[] = [];
    places.markContainer(list, at(startOf(node)));
    for (const [index, item] of node.items.entries()) {
      const place = at(startOf(item as Node, node));
      places.markMember(list, index, { key: place, value: place });
      list.push(this.convert(item as Node));
    }
    return list;
  }

  #map(node: YAMLMap): Record<string, unknown> {
    const { places, at, report } = this.#options;
    const object: Record<string, unknown> = {};
    places.markContainer(object, at(startOf(node)));
    const written = new Map<string, number>();
    for (const pair of node.items) {
      const name = this.#keyOf(pair);
      if (name === undefined) continue;
      const offset = startOf(pair.key as Node);
      if (name === '<<') {
        this.#merge(object, pair, written);
        continue;
      }
      const first = written.get(name);
      if (first !== undefined) {
        const { line, column } = at(first);
        report(
          offset,
          `the key ${name} is given twice`,
          `remove one; the first is at ${line}:${column}`,
        );
        continue;
      }
      written.set(name, offset);
      const value = pair.value as Node | null;
      places.markMember(object, name, {
        key: at(offset),
        value: at(startOf(value, pair.key as Node)),
      });
      object[name] = this.convert(value);
    }
    return object;
  }

  #keyOf(pair: Pair): string | undefined {
    const { report } = this.#options;
    if (!isScalar(pair.key)) {
      report(startOf(pair.key as Node), 'a key must be a text');
      return undefined;
    }
    const name = pair.key.source ?? String(pair.key.value);
    if (name !== '__proto__') return name;
    report(startOf(pair.key), 'the key __proto__ is not allowed');
    return undefined;
  }

  /** Members of `<<` fill what the mapping itself does not say, wherever it says it. */
  #merge(object: Record<string, unknown>, pair: Pair, written: Map<string, number>): void {
    const { report } = this.#options;
    const own = pair.value as Node;
    const sources = isSeq(own) ? (own.items as Node[]) : [own];
    for (const source of sources) {
      const value = this.convert(source);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        report(startOf(source, own), 'only a mapping can be merged with <<');
        continue;
      }
      this.#fill(object, value as Record<string, unknown>, written);
    }
  }

  #fill(
    object: Record<string, unknown>,
    value: Record<string, unknown>,
    written: ReadonlyMap<string, number>,
  ): void {
    const { places } = this.#options;
    for (const [name, member] of Object.entries(value)) {
      if (Object.hasOwn(object, name) || written.has(name)) continue;
      places.markMember(object, name, {
        key: places.find(value, [name], 'key'),
        value: places.find(value, [name]),
      });
      object[name] = member;
    }
  }
}

function startOf(node: Node | null, otherwise?: Node): number {
  return node?.range?.[0] ?? otherwise?.range?.[0] ?? 0;
}

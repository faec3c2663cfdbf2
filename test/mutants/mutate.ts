import { parseAst } from 'rolldown/parseAst';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly operator: string;
  readonly value?: unknown;
  readonly left: Node;
  readonly right: Node;
  readonly test: Node;
  readonly argument: Node;
  readonly expression: Node;
}

type Change = readonly [start: number, end: number, becomes: string];

export interface Mutant {
  /** Line of the source, from 1. */
  readonly line: number;
  readonly was: string;
  readonly becomes: string;
  /** The whole changed source. */
  apply(): string;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};

const THOUSAND = 1_000;

/** Changes of one place, by the type of its node. */
const RULES: Readonly<Record<string, (node: Node, text: string) => Change[]>> = {
  BinaryExpression: (node, text) => swapped(node, text),
  LogicalExpression: (node, text) => swapped(node, text),
  Literal: ({ value, start, end }) => {
    if (typeof value === 'boolean') return [[start, end, String(!value)]];
    // One more of a thousand milliseconds or bytes is the same program.
    if (typeof value === 'number')
      return [[start, end, String(value < THOUSAND ? value + 1 : value * 2)]];
    return [];
  },
  UnaryExpression: ({ operator, start }) => (operator === '!' ? [[start, start + 1, '']] : []),
  IfStatement: ({ test }, text) => negated(test, text),
  ConditionalExpression: ({ test }, text) => negated(test, text),
  ExpressionStatement: ({ expression, start, end }) =>
    isCall(expression) ? [[start, end, ';']] : [],
};

/** Every program that one small change of a TypeScript source makes, in the order of the source. */
export function mutantsOf(text: string): Mutant[] {
  const found: (Mutant & { start: number })[] = [];
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node, (node) => {
    for (const [start, end, becomes] of RULES[node.type]?.(node, text) ?? [])
      found.push({
        line: text.slice(0, start).split('\n').length,
        was: text.slice(start, end),
        becomes,
        start,
        apply: () => text.slice(0, start) + becomes + text.slice(end),
      });
  });
  return found.toSorted((a, b) => a.start - b.start);
}

function visit(node: Node, onNode: (node: Node) => void): void {
  // Types are gone before anything runs.
  if (node.type.startsWith('TS') && !KEPT.has(node.type)) return;
  onNode(node);
  for (const child of Object.values(node).flat() as (Partial<Node> | undefined)[])
    if (typeof child?.type === 'string') visit(child as Node, onNode);
}

const KEPT = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

function swapped({ left, right, operator }: Node, text: string): Change[] {
  const becomes = SWAPPED[operator];
  if (becomes === undefined) return [];
  const at = text.indexOf(operator, left.end);
  return at < right.start ? [[at, at + operator.length, becomes]] : [];
}

function negated({ start, end }: Node, text: string): Change[] {
  return [[start, end, `!(${text.slice(start, end)})`]];
}

function isCall({ type, argument }: Node): boolean {
  return type === 'CallExpression' || (type === 'AwaitExpression' && isCall(argument));
}

import { usageError } from '../cli-error.ts';

/** One step of a path, from all values so far to the next ones. */
export type Step =
  | { readonly type: 'member'; readonly name: string }
  | { readonly type: 'all' }
  | { readonly type: 'deep' }
  | { readonly type: 'pick'; readonly indexes: readonly number[] }
  | { readonly type: 'slice'; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly type: 'filter'; readonly left: readonly Step[]; readonly test: Test | undefined };

export interface Test {
  readonly operator: '==' | '!=' | '<' | '<=' | '>' | '>=';
  readonly value: unknown;
}

/** A part of a template: text, a path, or parts that are repeated for each value of a path. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'path'; readonly steps: readonly Step[] }
  | { readonly type: 'range'; readonly steps: readonly Step[]; readonly parts: readonly Part[] };

/**
 * Reads a template as kubectl does: `{.items[*].name}`, `{range .items[*]}{.id}{"\n"}{end}`, or a bare
 * path. Members, indexes, slices, `*`, `..` and filters of one comparison; nothing is evaluated as code.
 *
 * @throws CliError `usage` (exit 64) with what cannot be read
 */
export function parseJsonPath(template: string): Part[] {
  if (template.trim() === '') throw refuse(template, 'it is empty');
  const text = template.includes('{') ? template : `{${template.replace(/^(?=[^.$@[])/, '.')}}`;
  const open: { steps: readonly Step[]; parts: Part[] }[] = [{ steps: [], parts: [] }];
  const add = (part: Part) => open.at(-1)?.parts.push(part);
  for (const token of tokensOf(text, template)) {
    if (token.isText) add({ type: 'text', text: token.text });
    else if (/^range\s/.test(token.text)) {
      open.push({ steps: stepsOf(token.text.slice(5).trim(), template), parts: [] });
    } else if (token.text === 'end') {
      const range = open.length > 1 ? open.pop() : undefined;
      if (range === undefined) throw refuse(template, '{end} without {range}');
      add({ type: 'range', ...range });
    } else if (/^(['"]).*\1$/s.test(token.text)) {
      add({ type: 'text', text: unquoted(token.text, template) });
    } else add({ type: 'path', steps: stepsOf(token.text, template) });
  }
  if (open.length > 1) throw refuse(template, '{range} without {end}');
  return open[0]?.parts ?? [];
}

/** Text, and the expressions in braces; braces within quotes are text of their own. */
function tokensOf(text: string, template: string): { isText: boolean; text: string }[] {
  const tokens = [];
  let at = 0;
  while (at < text.length) {
    const begin = text.indexOf('{', at);
    if (begin !== at) {
      const end = begin < 0 ? text.length : begin;
      tokens.push({ isText: true, text: text.slice(at, end) });
      at = end;
      continue;
    }
    const inner = /^\{((?:[^{}'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)\}/s.exec(text.slice(at));
    if (inner === null) throw refuse(template, 'a brace or quote is not closed');
    tokens.push({ isText: false, text: (inner[1] ?? '').trim() });
    at += inner[0].length;
  }
  return tokens;
}

function stepsOf(path: string, template: string): Step[] {
  const steps: Step[] = [];
  let rest = path.replace(/^[$@]/, '');
  if (rest === '' && path !== '') return steps;
  if (rest === '.') return steps;
  while (rest !== '') {
    const found =
      /^\.\.(?=[\w*[-])/.exec(rest) ??
      /^\.?(\*|[\w-]+(?:\\\.[\w-]+)*)/.exec(rest) ??
      /^\.?\[((?:[^[\]'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^\]]*\])*)\]/s.exec(rest);
    if (found === null || (path === '' && steps.length === 0)) {
      throw refuse(template, `"${rest}" is not a path`);
    }
    const [all, inner] = found;
    if (all === '..') steps.push({ type: 'deep' });
    else if (/^\.?\[/.test(all)) steps.push(bracketed((inner ?? '').trim(), template));
    else if (inner === '*') steps.push({ type: 'all' });
    else steps.push({ type: 'member', name: (inner ?? '').replaceAll('\\.', '.') });
    rest = rest.slice(all.length);
  }
  if (steps.length === 0) throw refuse(template, 'a path is empty');
  return steps;
}

function bracketed(text: string, template: string): Step {
  if (text === '*') return { type: 'all' };
  if (/^(['"]).*\1$/s.test(text)) return { type: 'member', name: unquoted(text, template) };
  if (/^-?\d+(\s*,\s*-?\d+)*$/.test(text)) {
    return { type: 'pick', indexes: text.split(',').map(Number) };
  }
  const [, from, to] = /^(-?\d*)\s*:\s*(-?\d*)$/.exec(text) ?? [];
  if (from !== undefined && to !== undefined) {
    const bound = (word: string) => (word === '' ? undefined : Number(word));
    return { type: 'slice', from: bound(from), to: bound(to) };
  }
  return filterOf(text, template);
}

/** `?(@.price < 10)`, `?(@.name)`. */
function filterOf(text: string, template: string): Step {
  const isWhole = text.startsWith('?(') && text.endsWith(')');
  const inner = isWhole ? text.slice(2, -1).trim() : '';
  const [named = '', left] = /^@((?:\.[\w-]+|\[[^\]()]*\])+)/.exec(inner) ?? [];
  const rest = inner.slice(named.length).trim();
  const [, operator] = /^(==|!=|<=|>=|<|>)/.exec(rest) ?? [];
  if (left === undefined || (rest !== '' && operator === undefined)) {
    throw refuse(template, `"[${text}]" is neither an index nor a filter`);
  }
  const test = operator && {
    operator: operator as Test['operator'],
    value: valueOf(rest.slice(operator.length).trim(), template),
  };
  return { type: 'filter', left: stepsOf(left, template), test: test || undefined };
}

function valueOf(text: string, template: string): unknown {
  if (/^(['"]).*\1$/s.test(text)) return unquoted(text, template);
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(text)) return JSON.parse(text) as unknown;
  throw refuse(template, `"${text}" is not a value; quote texts`);
}

function unquoted(text: string, template: string): string {
  const inner = text.slice(1, -1);
  const json = text.startsWith("'")
    ? inner.replaceAll(String.raw`\'`, "'").replace(/"/g, String.raw`\"`)
    : inner;
  try {
    return String(JSON.parse(`"${json}"`));
  } catch {
    throw refuse(template, `${text} cannot be read`);
  }
}

function refuse(template: string, why: string) {
  return usageError(
    `-o jsonpath=${template}: ${why}`,
    "write it like -o jsonpath='{.items[*].name}' or -o jsonpath=.name",
  );
}

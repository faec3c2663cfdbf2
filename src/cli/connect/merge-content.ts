import { parseDocument, isMap, isSeq } from 'yaml';
import type { Document } from 'yaml';
import { CliError } from '../cli-error.ts';
import type { ToolFile } from './tool.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * The text of a tool's file with what the tool needs in it; everything else in the file stays. Comments
 * of YAML and of files of variables stay, too. Throws `unreadable_file` (exit 1) for a file that is not
 * of its format, and for JSON with comments, which would be lost.
 */
export function mergeContent(file: ToolFile, text: string | undefined): string {
  const { content, defaults = {} } = file;
  if (typeof content === 'string') return content;
  if (file.format === 'env') return mergeVariables(text ?? '', content);
  const isNew = text === undefined || text.trim() === '';
  const members = isNew ? { ...defaults, ...content } : content;
  return file.format === 'yaml'
    ? mergeYaml(text ?? '', members)
    : mergeJson(isNew ? '{}' : text, members);
}

function mergeVariables(text: string, variables: Members): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  for (const [name, value] of Object.entries(variables)) {
    const at = lines.findIndex((line) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(line));
    lines.splice(at === -1 ? lines.length : at, at === -1 ? 0 : 1, `${name}=${String(value)}`);
  }
  return `${lines.join('\n')}\n`;
}

function mergeJson(text: string, members: Members): string {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch (cause) {
    throw unreadable('the file is not plain JSON, or has comments', cause);
  }
  if (!isMembers(whole)) throw unreadable('the file holds no JSON object');
  return `${JSON.stringify(merged(whole, members), null, 2)}\n`;
}

function merged(old: unknown, wanted: unknown): unknown {
  if (isNamedList(wanted) && isNamedList(old)) {
    const names = new Set(wanted.map(({ name }) => name));
    return [...old.filter(({ name }) => !names.has(name)), ...wanted];
  }
  if (!isMembers(wanted) || !isMembers(old)) return wanted;
  const members = Object.entries(wanted).map(([name, value]) => [name, merged(old[name], value)]);
  return { ...old, ...Object.fromEntries(members) };
}

function mergeYaml(text: string, members: Members): string {
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault) throw unreadable(fault.message.split('\n', 1)[0] ?? 'the file is not YAML', fault);
  if (document.contents !== null && !isMap(document.contents))
    throw unreadable('the file holds no YAML mapping');
  setMembers(document, [], members);
  return document.toString({ lineWidth: 0 });
}

function setMembers(document: Document, path: readonly unknown[], members: Members): void {
  for (const [name, value] of Object.entries(members)) setValue(document, [...path, name], value);
}

function setValue(document: Document, path: readonly unknown[], value: unknown): void {
  const old = document.getIn(path, true);
  if (isMembers(value) && isMap(old)) return setMembers(document, path, value);
  if (!isNamedList(value) || !isSeq(old)) return document.setIn(path, document.createNode(value));
  for (const item of value) {
    const at = old.items.findIndex((one) => isMap(one) && one.get('name') === item.name);
    document.setIn([...path, at === -1 ? old.items.length : at], document.createNode(item));
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNamedList(value: unknown): value is readonly { name: string }[] {
  return (
    Array.isArray(value) &&
    value.every((item) => isMembers(item) && typeof item['name'] === 'string')
  );
}

function unreadable(message: string, cause?: unknown): CliError {
  const hint = 'paste the configuration by hand; without --write it is printed';
  return new CliError({ code: 'unreadable_file', message, hint, cause });
}

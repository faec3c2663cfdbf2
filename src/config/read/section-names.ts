import { toScope } from '../../core/access.ts';
import { kindNamed, SECTION_WORDS } from '../objects/kinds.ts';
import { isRecord } from '../objects/record.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Places } from '../source/locate.ts';

/** Gives sections of a document the names of the contract, in place; two words for one are a fault. */
export function nameSections(document: Record<string, unknown>, places: Places): Diagnostic[] {
  return Object.keys(SECTION_WORDS).flatMap((word) =>
    Object.hasOwn(document, word) ? nameSection(document, word, places) : [],
  );
}

/** The same for kinds of moves and scopes of keys, whose words may come from references. */
export function nameWords(document: Readonly<Record<string, unknown>>): void {
  for (const move of recordsOf(document['moved']))
    move['kind'] = kindNamed(String(move['kind'])) ?? move['kind'];
  for (const { scopes } of recordsOf(document['keys']))
    if (Array.isArray(scopes)) nameScopes(scopes);
}

function nameSection(
  document: Record<string, unknown>,
  word: string,
  places: Places,
): Diagnostic[] {
  const { [word]: section } = document;
  const name = SECTION_WORDS[word] ?? word;
  const key = places.find(document, [word], 'key');
  const value = places.find(document, [word]);
  delete document[word];
  if (Object.hasOwn(document, name)) {
    const { file, line } = places.find(document, [name], 'key');
    const message = `${word} and ${name} are one section`;
    const hint = `${name} is at ${file}:${line}; write all of them under one of the two`;
    return [{ ...key, path: word, severity: 'error', message, hint }];
  }
  places.markMember(document, name, { key, value });
  document[name] = section;
  return [];
}

function nameScopes(scopes: unknown[]): void {
  for (const [index, scope] of scopes.entries())
    if (typeof scope === 'string') scopes[index] = toScope(scope);
}

function recordsOf(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? (list as unknown[]).filter(isRecord) : [];
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commentsOf, paragraphsOf, type Passage } from './passages.ts';
import type { Numbers } from './ratchet.ts';
import { ROOT, modules, roomOf, textOf } from './tree.ts';

interface Marker {
  pattern: RegExp;
  plain: string;
}

/** What a sign of the network may be behind: there the word is the field's own. */
const NETWORK = String.raw`(?! (?:\S+ ){0,3}?(?:prox(?:y|ies)|balancers?|ingress|NAT|firewalls?|nginx|CDN))`;

/** Words that hide the term a reader would search for, each with plain ones. */
const MARKERS: readonly Marker[] = [
  {
    pattern: /\b(?:un)?(?:tell|tells|told|telling)\b(?!(?: [\w']+){0,6} apart)/gi,
    plain: 'report, return, notify, show',
  },
  {
    pattern: /\b(?:whoever|whomever|nobody|somebody|everybody|anybody)\b/gi,
    plain: 'name the component or client: "the caller", "no worker", "another process"',
  },
  {
    pattern: /\blet(?:s|ting)? (?:\w+ ){0,3}?go\b|\bfor dead\b|\bhears? of\b/gi,
    plain: 'release, mark as dead, receive',
  },
  { pattern: new RegExp(String.raw`\bbehind\b${NETWORK}`, 'gi'), plain: 'after' },
  { pattern: new RegExp(String.raw`\bin front of\b${NETWORK}`, 'gi'), plain: 'before' },
  { pattern: /\b(?:stands?|stood|standing)\b(?!-| in for)/gi, plain: 'is, means, replaces' },
  { pattern: /\balone\b/gi, plain: 'only' },
  {
    pattern:
      /\bwhat (?:it|they|one|others?|is|was|are|were|has|have|had|comes?|came|goes|went|can|could|may|must|would|will|does|did|do|holds?|follows?|belongs?|there)\b/gi,
    plain: 'a noun: "the pending calls" for "what was begun and is not stored"',
  },
  { pattern: /\bbeside\b/gi, plain: 'in addition to, next to, with' },
  { pattern: /\b(?:go|goes|going|went|gone) on\b/gi, plain: 'continue' },
  { pattern: /\b(?:say|says|said|saying)(?: \w+){0,4} of\b/gi, plain: 'describe, state' },
  { pattern: /\bno more\b(?! (?:of \w+ )?than)/gi, plain: 'no longer' },
  { pattern: /\banew\b/gi, plain: 'again' },
  {
    pattern:
      /\bturns? of (?:the|this|an?) event loop\b|\b(?:get|give|take)s? (?:their|its|a) turns?\b/gi,
    plain: 'tick, share',
  },
  {
    pattern:
      /(?<!\b(?:in|decimal|(?:in|takes?|taking|took|taken) (?:the|its|their|whose|his)|takes?|taking|took|taken) )\bplaces?\b/gi,
    plain: 'slot, position',
  },
];

/** Code in a text, examples included. */
const CODE = /```[^]*?```|`[^`]*`|\{@[^}]*\}/g;

/** A marker in a text. */
export interface Finding {
  area: string;
  file: string;
  line: number;
  word: string;
  plain: string;
}

export function findWords(passage: Passage): Pick<Finding, 'line' | 'word' | 'plain'>[] {
  const text = passage
    .map((part) => part.text)
    .join(' ')
    .replace(CODE, (code) => '`'.repeat(code.length));
  return MARKERS.flatMap(({ pattern, plain }) =>
    [...text.matchAll(pattern)].map(({ 0: word, index }) => {
      let end = -1;
      const part = passage.find(({ text }) => (end += text.length + 1) > index - 1);
      return { line: part?.line ?? 0, word, plain };
    }),
  );
}

/** Code apart from `src` whose comments are counted. */
const FOLDERS = ['bin', 'scripts', 'test/support'];
/** All pages are one area, so that text may move from one to another. */
const DOCS = 'pages';
/** Explains words, peculiar ones included. */
const GLOSSARY = 'glossary.md';

/** The markers in comments and pages, in the order of files and lines. */
export function findAllWords(): Record<'comments' | 'docs', Finding[]> {
  const inComments = (area: string, file: string, text: string): Finding[] =>
    commentsOf(text).flatMap((passage) =>
      findWords(passage).map((found) => ({ area, file, ...found })),
    );
  const inSource = modules.flatMap((file) => inComments(roomOf(file), `src/${file}`, textOf(file)));
  const inFolders = FOLDERS.flatMap((folder) =>
    namesIn(folder, /\.(?:[cm]?js|ts)$/).flatMap((file) => inComments(folder, file, read(file))),
  );
  const pages = ['README.md', 'CONTRIBUTING.md', ...namesIn('docs', /\.md$/)];
  const docs = pages
    .filter((file) => !file.endsWith(GLOSSARY))
    .flatMap((file) =>
      paragraphsOf(read(file)).flatMap((passage) =>
        findWords(passage).map((found) => ({ area: DOCS, file, ...found })),
      ),
    );
  return { comments: [...inSource, ...inFolders], docs };
}

function namesIn(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** Empty for a page that there is not. */
function read(file: string): string {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return '';
  }
}

export function countWords(found: Record<string, readonly Finding[]>): Numbers {
  const kinds = Object.entries(found).map(([kind, findings]) => {
    const counts: Record<string, number> = {};
    for (const { area } of findings) counts[area] = (counts[area] ?? 0) + 1;
    return [kind, counts] as const;
  });
  return Object.fromEntries(kinds);
}

import { eachInSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import type { Turn } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { writeParts } from './write-part.ts';
import type { PartWriting, WrittenPart } from './write-part.ts';

interface Content {
  role: 'user' | 'model';
  parts: WrittenPart[];
}

export interface WrittenConversation {
  systemInstruction?: { parts: WrittenPart[] };
  contents: Content[];
}

/**
 * The turns as contents: system texts in one instruction, and the results of one round of calls in
 * one content with the next words of the user, for providers count them against the calls.
 */
export function* writeConversation(
  turns: readonly Turn[],
  losses: Set<Feature>,
): Steps<WrittenConversation> {
  const writing = yield* writingFor(turns, losses);
  const system: WrittenPart[] = [];
  const contents: Content[] = [];
  let afterResults = false;
  yield* eachInSteps(turns, ({ role, name, parts }) => {
    if (name !== undefined) losses.add('participant_names');
    if (parts.some((part) => part.type === 'text' && part.citations)) losses.add('citations');
    const written = writeParts(parts, writing);
    if (written.length === 0) return;
    const last = contents.at(-1);
    if (role === 'system' || role === 'developer') for (const part of written) system.push(part);
    else if (last && goesOn(last, { role, written, afterResults }))
      for (const part of written) last.parts.push(part);
    else contents.push({ role: role === 'assistant' ? 'model' : 'user', parts: written });
    if (role !== 'system' && role !== 'developer') afterResults = role === 'tool';
  });
  return { ...(system.length > 0 && { systemInstruction: { parts: system } }), contents };
}

/**
 * Neighbours of the model are one, also where a system text was between them. Media stay apart from
 * results: with those of several calls they are refused, for they do not count as results.
 */
function goesOn(
  last: Content,
  next: { role: Turn['role']; written: readonly WrittenPart[]; afterResults: boolean },
): boolean {
  if (next.role === 'assistant') return last.role === 'model';
  if (!next.afterResults || last.role !== 'user') return false;
  return next.role === 'tool' || !next.written.some(isMedia);
}

function isMedia(part: WrittenPart): boolean {
  return 'inlineData' in part || 'fileData' in part;
}

function* writingFor(turns: readonly Turn[], losses: Set<Feature>): Steps<PartWriting> {
  const names = new Map<string, string>();
  yield* eachInSteps(turns, ({ parts }) => {
    for (const part of parts) if (part.type === 'tool_call') names.set(part.id, part.name);
  });
  return {
    losses,
    names,
    signatureText: ({ origin, value }) => (origin === 'generate-content' ? value : undefined),
  };
}

import { isUtf8 } from 'node:buffer';
import { answerDocument, renamed } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { isRunning, toInteraction } from './interaction.ts';
import { measureOutput } from './interactions-output.ts';
import { toInteractionUsage } from './interactions-usage.ts';

/** An Interaction in any state: an object with a status and an id; an ended one needs no id. */
export function readInteractionsAnswer(
  source: AnswerSource,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  const document = answerDocument(source);
  if (!document || !isUtf8(document.body)) return undefined;
  const { value } = document;
  const work = toInteraction(value);
  if (!work && !isDone(value['status'])) return undefined;
  return {
    body: renamed(document, logicalModel),
    usage: toInteractionUsage(value['usage']),
    outputChars: measureOutput(value['steps'] ?? value['outputs']),
    work,
  };
}

function isDone(status: unknown): boolean {
  return typeof status === 'string' && !isRunning(status);
}

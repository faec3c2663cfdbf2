import { isUtf8 } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import { parseJsonObject } from '../../core/json-value.ts';
import { rewriteModelName } from '../model-member.ts';
import type { Answer, AnswerOptions, RequestPeek } from '../protocol.ts';
import { isRunning, toInteraction } from './interaction.ts';
import { measureOutput } from './interactions-output.ts';
import { toInteractionUsage } from './interactions-usage.ts';

/**
 * An Interaction: an object with a status and an id, whatever state it is in; what has ended needs no id,
 * for nobody has to ask for it.
 */
export function readInteractionsAnswer(
  body: Buffer,
  _peek: RequestPeek,
  { logicalModel }: AnswerOptions,
): Answer | undefined {
  const value = isUtf8(body) ? parseJsonObject(body.toString('utf8')) : undefined;
  const work = toInteraction(value);
  if (!value || (!work && !isDone(value['status']))) return undefined;
  return {
    body: logicalModel === undefined ? body : rewriteModelName(body, logicalModel),
    usage: toInteractionUsage(value['usage']),
    outputChars: measureOutput(value['steps'] ?? value['outputs']),
    work,
  };
}

function isDone(status: unknown): boolean {
  return typeof status === 'string' && !isRunning(status);
}

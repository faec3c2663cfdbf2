import { toShellWord } from '../../core/shell-word.ts';
import type { RequestRow } from '../api/views.ts';

/** Paths of the surfaces that a request can be asked again on, by their names in records. */
const PATHS: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  'generate-content': '/v1beta/models/MODEL:generateContent',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
};

/** A command that sends the same again; the key is a variable, as no record has it. */
export function toCurl(row: RequestRow, origin: string): string {
  const path = (PATHS[row.surface] ?? PATHS['chat'] ?? '').replace('MODEL', row.alias ?? row.model);
  const body = row.content?.request ?? bodyOf(row);
  return [
    `curl ${toShellWord(origin + path)}`,
    `-H "authorization: Bearer $GATEWAY_API_KEY"`,
    `-H 'content-type: application/json'`,
    `-d ${toShellWord(body)}`,
  ].join(' \\\n  ');
}

function bodyOf({ surface, alias, model, stream }: RequestRow): string {
  const name = alias ?? model;
  const streamed = stream ? { stream: true } : {};
  if (surface === 'responses') return JSON.stringify({ model: name, input: 'Hello', ...streamed });
  if (surface === 'embeddings') return JSON.stringify({ model: name, input: 'Hello' });
  if (surface === 'images') return JSON.stringify({ model: name, prompt: 'A lighthouse' });
  const messages = [{ role: 'user', content: 'Hello' }];
  if (surface === 'generate-content')
    return JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
  if (surface === 'messages')
    return JSON.stringify({ model: name, max_tokens: 1024, messages, ...streamed });
  return JSON.stringify({ model: name, messages, ...streamed });
}

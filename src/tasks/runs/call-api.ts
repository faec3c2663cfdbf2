import { Buffer } from 'node:buffer';
import { scanJson } from '../../core/json/json-document.ts';
import type { ApiQuestion, ApiReply } from '../../apis/api-caller.ts';
import type { CallDone } from './call-model.ts';

type ApiInput = Pick<ApiQuestion, 'method' | 'path' | 'query' | 'body'>;

/**
 * Reads the call of an API from a run's input that fits the schema of the API: the method is POST
 * where there is a body, else GET; the body is sent as the JSON that it is, byte by byte.
 */
export function readApiInput(input: Buffer): ApiInput {
  const json = scanJson(input);
  const read = <K extends keyof ApiInput>(name: K) => json.get(name) as ApiInput[K] | undefined;
  const body = json.find('body');
  return {
    method: read('method') ?? (body ? 'POST' : 'GET'),
    path: read('path') ?? '',
    query: read('query'),
    body: body && input.subarray(body.valueStart, body.valueEnd),
  };
}

/** The answer as the output of a run: what the API refused has failed, and still shows its answer. */
export function toApiResult({
  status,
  headers,
  body,
}: Pick<ApiReply, 'status' | 'headers' | 'body'>): CallDone {
  const shown = { status, headers, body: 0 };
  const output = Buffer.from(
    JSON.stringify(shown).replace(/0\}$/, () => `${bodyText(body, headers['content-type'])}}`),
  );
  if (status < 400) return { output, error: null };
  const message = `the API refused the call with ${status}`;
  return { output, error: { code: 'upstream_rejected', message } };
}

/** JSON as it came, other texts as a text, the rest in base64. */
function bodyText(body: Buffer, type = ''): string {
  if (/[/+]json\b/i.test(type)) {
    const text = body.toString('utf8');
    if (isJson(text)) return text;
  }
  if (/^text\//i.test(type) || body.length === 0) return JSON.stringify(body.toString('utf8'));
  return JSON.stringify({ base64: body.toString('base64') });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

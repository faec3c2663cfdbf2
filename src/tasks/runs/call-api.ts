import { Buffer } from 'node:buffer';
import { finishScan, scanInSlices } from '../../core/json/json-document.ts';
import { JsonScanner } from '../../core/json/scanner.ts';
import type { ApiQuestion, ApiReply } from '../../apis/api-caller.ts';
import type { CallDone } from './call-model.ts';

type ApiInput = Pick<ApiQuestion, 'method' | 'path' | 'query' | 'body'>;

/**
 * Reads the call of an API from a run's input that fits the schema of the API: the method is POST
 * where there is a body, else GET; the body is sent as the JSON that it is, byte by byte.
 */
export async function readApiInput(input: Buffer): Promise<ApiInput> {
  const json = await scanInSlices(input, {});
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
export async function toApiResult({
  status,
  headers,
  body,
}: Pick<ApiReply, 'status' | 'headers' | 'body'>): Promise<CallDone> {
  const shown = JSON.stringify({ status, headers, body: 0 }).replace(/0\}$/, '');
  const written = await writeBody(body, headers['content-type']);
  const output = Buffer.concat([Buffer.from(shown), written, Buffer.from('}')]);
  if (status < 400) return { output, error: null };
  const message = `the API refused the call with ${status}`;
  return { output, error: { code: 'upstream_rejected', message } };
}

/** JSON as it came, other texts as a text, the rest in base64. */
async function writeBody(body: Buffer, type = ''): Promise<Buffer> {
  if (/[/+]json\b/i.test(type) && (await isJson(body))) return body;
  if (/^text\//i.test(type) || body.length === 0)
    return Buffer.from(JSON.stringify(body.toString('utf8')));
  return Buffer.from(JSON.stringify({ base64: body.toString('base64') }));
}

/** Scans an answer, which may be long, in slices. */
async function isJson(body: Buffer): Promise<boolean> {
  const scanner = new JsonScanner(body, { members: Infinity, depth: Infinity });
  await finishScan(scanner);
  return scanner.fault === undefined;
}

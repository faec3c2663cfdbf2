import { neededBy, operationsOf } from './openapi-checker.ts';
import type { Document, Located } from './openapi-checker.ts';

export interface CallInput {
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
}

export interface GeneratedClient {
  /** By `operationId`. */
  call(id: string, input: CallInput): Promise<Record<string, unknown>>;
}

/** A client of nothing but the document: what its readers generate, in a few lines. */
export function generateClient(
  document: Document,
  { url, key }: { url: string; key: string },
): GeneratedClient {
  const operations = new Map(operationsOf(document).map((one) => [one.operation.operationId, one]));
  return {
    async call(id, input) {
      const found = operations.get(id);
      if (!found) throw new Error(`no operation ${id}`);
      const response = await fetch(url + toTarget(found, input), {
        method: found.method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(input.body && { 'content-type': 'application/json' }),
        },
        ...(input.body && { body: JSON.stringify(checked(document, found, input.body)) }),
      });
      const promised = Object.keys(found.operation.responses);
      if (!promised.includes(String(response.status))) throw new Error(String(response.status));
      return (await response.json()) as Record<string, unknown>;
    },
  };
}

function toTarget(
  { path, operation }: Located,
  { path: values = {}, query = {} }: CallInput,
): string {
  const target = path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    if (values[name] === undefined) throw new Error(`${name} is required`);
    return encodeURIComponent(values[name]);
  });
  const known = (operation.parameters ?? []).filter((one) => one.in === 'query');
  for (const name of Object.keys(query))
    if (!known.some((one) => one.name === name)) throw new Error(`no parameter ${name}`);
  const text = new URLSearchParams(query).toString();
  return text === '' ? target : `${target}?${text}`;
}

function checked(document: Document, { operation }: Located, body: object): object {
  const required = neededBy(document, operation);
  for (const member of required) if (!(member in body)) throw new Error(`${member} is required`);
  return body;
}

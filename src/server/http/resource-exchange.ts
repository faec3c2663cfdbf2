import { GatewayError } from '../../core/errors.ts';
import type { FormPart } from '../../core/form.ts';
import type { ValueBound } from '../../core/json/json-document.ts';
import type { Spools } from '../../core/memory/spool.ts';
import { gatherBody } from '../../core/memory/spooled-body.ts';
import type { ResourceRequest } from '../../resources/store/resource-request.ts';
import type { FormField } from '../../resources/store/dialect.ts';
import type { OrganizationApi } from '../../resources/store/define-resource.ts';
import { readObject } from '../../resources/fields/parse-body.ts';
import type { HttpExchange } from '../../surfaces/http-exchange.ts';
import { readBody } from '../../surfaces/read-body.ts';
import { isForm, readForm } from '../../surfaces/read-form.ts';
import { isYaml, readYaml } from './yaml-body.ts';
import type { YamlBody } from './yaml-body.ts';

export interface ResourceBodies {
  spools: Spools;
  /** Bytes. */
  maxBodyBytes: number;
  resourceValues: ValueBound;
}

/** Terms on which one body is taken. */
export interface BodyTerms extends ResourceBodies {
  /** Id of the key in whose name the body takes up memory. */
  holder: string;
}

/** Path at which a kind is served, and the meaning of forms there. */
export interface ResourcePlace {
  path: string;
  fromForm?: OrganizationApi['fromForm'] | undefined;
  yaml?: OrganizationApi['yaml'] | undefined;
}

export type ReceivedRequest = Omit<
  ResourceRequest,
  'organization' | 'platform' | 'by' | 'rights'
> & {
  /** Adds to a thrown error its line and column in the body where that has lines. */
  locate(thrown: unknown): unknown;
};

/** Request of a resource handler from an exchange, without its caller. */
export function toResourceRequest(
  { path: base, fromForm, yaml = false }: ResourcePlace,
  exchange: HttpExchange,
  bodies: BodyTerms,
): ReceivedRequest {
  const { request, path, search } = exchange;
  let locate: YamlBody['locate'] = (thrown) => thrown;
  return {
    // The answer to HEAD is that to GET; its body is left out where it is sent.
    method: request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET'),
    segments: segmentsBelow(base, path),
    query: new URLSearchParams(search),
    named: exchange.named,
    async body(options) {
      if (fromForm && isForm(request)) return fromForm(await readFields(exchange, bodies));
      const { maxBodyBytes: limit, holder, resourceValues: values } = bodies;
      const bytes = await readBody(exchange, { limit, holder });
      if (!yaml || !isYaml(request)) return readObject(bytes, { ...options, values });
      const read = readYaml(bytes, options);
      ({ locate } = read);
      return read.value;
    },
    locate: (thrown) => locate(thrown),
  };
}

async function readFields(
  exchange: HttpExchange,
  { maxBodyBytes: limit, spools, holder }: BodyTerms,
): Promise<FormField[]> {
  const form = await readForm(exchange, { limit, holder, spools, boundary: exchange.id });
  try {
    const files = form.parts.reduce((sum, part) => sum + lengthOf(part), 0);
    await exchange.intake.reserve(holder, exchange.intake.held + files);
    return await Promise.all(form.parts.map((part) => toField(part, limit)));
  } finally {
    await form.dispose();
  }
}

function lengthOf(part: FormPart): number {
  return part.value === undefined ? part.content.length : 0;
}

async function toField(part: FormPart, limit: number): Promise<FormField> {
  const { name } = part;
  if (part.value !== undefined) return { name, value: part.value };
  const { filename, contentType, content } = part;
  return { name, filename, contentType, content: await gatherBody(content, limit) };
}

/** Decoded path segments; an id or name may hold an encoded slash. */
export function segmentsBelow(base: string, path: string): string[] {
  try {
    return path
      .slice(base.length)
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    throw new GatewayError('not_found', { message: 'no such path' });
  }
}

import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { toAttachment } from '../../core/attachment.ts';
import { GatewayError } from '../../core/errors.ts';
import { ownerRef } from './agent-fields.ts';
import { contentOps, contentRemovals, readContent } from '../files/content-rows.ts';
import { defineResource } from '../store/define-resource.ts';
import type { Body, Spec } from '../store/stored.ts';
import type { ChildInput, ResourceDefinition } from '../store/define-resource.ts';
import { labels, name, owner } from '../fields/fields.ts';
import { FILE_DIALECTS } from '../files/file-dialects.ts';
import type { ResourceReply } from '../store/resource-request.ts';
import type { FormField } from '../store/dialect.ts';
import { refuseMethod } from '../store/refuse-method.ts';
import type { Draft, Settlement } from '../store/settlement.ts';

/** A file is one commit; larger ones belong elsewhere. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A file that content blocks name; kept as it was uploaded. */
export const file: ResourceDefinition = defineResource('files', {
  idPrefix: 'file',
  description: 'Files that messages name.',
  fields: () =>
    z.object({
      name: name.describe('As it was called where it comes from.'),
      organization: owner,
      mime_type: z
        .string()
        .regex(/^[\x20-\x7e]{1,256}$/, 'not a media type')
        .describe('What it is.'),
      purpose: z
        .string()
        .regex(/^[\x21-\x7e]{1,64}$/, 'not a purpose')
        .default('user_data')
        .describe('As OpenAI clients name it; the gateway does nothing with it.'),
      size_bytes: z.int().nonnegative().default(0).describe('Set by the gateway.'),
      labels,
    }),
  immutable: ['organization', 'purpose', 'size_bytes'],
  deletable: true,
  uses: { content: 'content' },
  unique: [],
  filters: ['organization', 'id', 'purpose'],
  api: {
    path: '/v1/files',
    scope: 'sessions',
    hidden: ['organization', 'version', 'name'],
    changes: false,
    dialects: FILE_DIALECTS,
    children: { content: sendContent },
    fromForm: fromFileForm,
  },
  refs: (spec) => [ownerRef(spec)],
  settle: settleFile,
  shown: () => z.object({ filename: z.string(), downloadable: z.boolean(), expires_at: z.null() }),
  view: ({ spec }) => ({ filename: spec.name, downloadable: true, expires_at: null }),
  dispose: async ({ id, spec }) => contentRemovals(id, sizeOf(spec)),
});

async function settleFile({ id, spec, before, body }: Draft): Promise<Settlement> {
  if (before) return { spec };
  const { content } = body;
  if (!Buffer.isBuffer(content)) throw invalid('a part with a file is required');
  return { spec: { ...spec, size_bytes: content.length }, ops: contentOps(id, content) };
}

/**
 * The one part `file` of an upload, and its `purpose`.
 *
 * @throws GatewayError `invalid_request`; `body_too_large`
 */
function fromFileForm(fields: readonly FormField[]): Body {
  const [part, ...others] = fields.filter(({ name: field }) => field === 'file');
  if (others.length > 0) throw invalid('is there more than once');
  const { content, filename, contentType } = part ?? {};
  if (!content) throw invalid('a part with a file is required');
  if (content.length > MAX_BYTES) {
    const message = `file: larger than the limit of ${MAX_BYTES} bytes`;
    throw new GatewayError('body_too_large', { message, param: 'file' });
  }
  const type = contentType ?? 'application/octet-stream';
  // Only administrators name one.
  const valueOf = (wanted: string): string | undefined =>
    fields.find(({ name: field }) => field === wanted)?.value;
  const [owner, purpose] = [valueOf('organization'), valueOf('purpose')];
  refuseExpiry(fields);
  return {
    name: filename ?? 'unnamed',
    mime_type: type,
    content,
    ...(owner !== undefined && { organization: owner }),
    ...(purpose !== undefined && { purpose }),
  };
}

/** A file that should be gone by then would stay. */
function refuseExpiry(fields: readonly FormField[]): void {
  if (!fields.some(({ name: field }) => field.startsWith('expires_after'))) return;
  const message = 'expires_after: files do not expire here; delete the file in its place';
  throw new GatewayError('invalid_request', { message, param: 'expires_after' });
}

/** The bytes as a download: a browser must never take them for a page of the gateway. */
async function sendContent(input: ChildInput): Promise<ResourceReply> {
  const { repository, stored, request, segments } = input;
  if (segments.length > 0) throw new GatewayError('not_found', { message: 'no such path' });
  if (request.method !== 'GET') throw refuseMethod(['GET']);
  const content = await readContent(repository.store, stored.id, sizeOf(stored.spec));
  if (!content) throw new GatewayError('not_found', { message: 'file not found' });
  return {
    status: 200,
    body: content,
    headers: {
      'content-type': String(stored.spec['mime_type']),
      'content-disposition': toAttachment(stored.spec.name),
      'x-content-type-options': 'nosniff',
    },
  };
}

function sizeOf({ size_bytes: size }: Spec): number {
  return Number(size);
}

function invalid(what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `file: ${what}`, param: 'file' });
}

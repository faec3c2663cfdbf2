import type { AuditLog } from '../../audit/audit-log.ts';
import { changedFields } from '../../audit/changed-fields.ts';
import { originOf } from '../../audit/origin-of.ts';
import type { Use } from '../../core/access.ts';
import type { Principal } from '../../usage/principal.ts';
import { GatewayError } from '../../core/errors.ts';
import type { CallResult } from '../../inference/types.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { clientAddress } from '../../surfaces/client-origin.ts';
import type { PublicAddress } from '../../surfaces/client-origin.ts';
import { admit } from '../../surfaces/gate.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import { onceClosed } from '../../surfaces/http-exchange.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { pathBelow } from '../../surfaces/path-below.ts';
import type { InferenceDeps } from '../../inference/run-inference.ts';
import { holderOf } from '../../usage/principal.ts';
import { listContentTasks, listVideos } from './video-lists.ts';
import { VideoContent, withByteHeaders } from './video-content.ts';
import type { VideoRecord } from './video-record.ts';
import { removeVideo, videosSurface } from './video-task.ts';
import type { VideoRemoval } from './video-task.ts';
import type { VideoService } from './video-task.ts';
import { toContentTask, toVideoObject } from './video-views.ts';

export interface VideoDeps extends GateDeps, PublicAddress {
  inference: Pick<InferenceDeps, 'clock' | 'transportFor' | 'active'>;
  repository: { readonly audit: Pick<AuditLog, 'commit'> };
}

/** Handlers for tasks that are created (decisions: Native video tasks). */
export interface VideoHandlers {
  /** `GET /v1/videos`: `after`, `limit`, `order`. */
  readonly list: Handler;
  /** `GET /v1/videos/{id}` and `/v1/videos/{id}/content`: `variant`. */
  readonly get: Handler;
  readonly remove: Handler;
  /** `GET /v1/contents/generations/tasks`: `page_num`, `page_size`, `filter.*`. */
  readonly listTasks: Handler;
  readonly getTask: Handler;
  readonly removeTask: Handler;
}

export const VIDEOS_PATH = '/v1/videos';
export const CONTENT_TASKS_PATH = '/v1/contents/generations/tasks';

type Serve = (exchange: HttpExchange, principal: Principal) => Promise<Reply | CallResult>;

export function createVideoHandlers(videos: VideoService, deps: VideoDeps): VideoHandlers {
  const serve =
    (use: Use, work: Serve): Handler =>
    async (exchange) => {
      const { request, response, search } = exchange;
      const key = readKey(videosSurface.family.carriers, request.headers, search);
      const { principal, leave } = await admit(key, { scope: 'inference', use }, deps);
      onceClosed(response, leave);
      return work(exchange, principal);
    };
  const show = async (
    exchange: HttpExchange,
    { organizationId: organization }: Principal,
  ): Promise<Reply | CallResult> => {
    const [id, ...rest] = segmentsOf(exchange, VIDEOS_PATH);
    if (rest.length > 1 || (rest[0] ?? 'content') !== 'content') throw noSuchPath();
    const { value: record } = await videos.look(organization, id);
    return rest.length === 0
      ? ok(toVideoObject(record))
      : openContent(record, exchange, { ...deps, videos });
  };
  const remove = createRemoval(videos, deps);
  return {
    list: serve('content', async ({ search }, { organizationId: organization }) =>
      ok(await listVideos(videos.rows, organization, new URLSearchParams(search))),
    ),
    get: serve('content', show),
    remove: serve('write', async (exchange, principal) => {
      const id = onlySegment(exchange, VIDEOS_PATH);
      await remove(id, exchange, principal);
      return ok({ id, object: 'video.deleted', deleted: true });
    }),
    listTasks: serve('content', async (exchange, { organizationId: organization }) => {
      const query = new URLSearchParams(exchange.search);
      return ok(
        await listContentTasks(videos.rows, organization, {
          query,
          origin: clientAddress(exchange, deps),
        }),
      );
    }),
    getTask: serve('content', async (exchange, { organizationId: organization }) => {
      const id = onlySegment(exchange, CONTENT_TASKS_PATH);
      const { value: record } = await videos.look(organization, id);
      return ok(toContentTask(record, clientAddress(exchange, deps)));
    }),
    removeTask: serve('write', async (exchange, principal) => {
      await remove(onlySegment(exchange, CONTENT_TASKS_PATH), exchange, principal);
      return ok({});
    }),
  };
}

/** Deletes a task and writes its audit entry. */
function createRemoval(
  videos: VideoService,
  { repository }: Pick<VideoDeps, 'repository'>,
): (id: string, exchange: HttpExchange, principal: Principal) => Promise<void> {
  return (id, exchange, principal) => {
    const { organizationId: organization } = principal;
    const commit: VideoRemoval['commit'] = (ops, record) =>
      repository.audit.commit(ops, {
        origin: originOf(exchange, principal),
        action: 'delete',
        object: { kind: 'video', id: record.id, name: null },
        organization,
        changes: changedFields({ model: record.model }, {}),
      });
    return removeVideo(videos, { organization, id, commit });
  };
}

const ok = (body: object): Reply => ({ status: 200, body });

function openContent(
  record: VideoRecord,
  { request, response, search }: HttpExchange,
  { inference, videos }: VideoDeps & { videos: VideoService },
): Promise<CallResult> {
  if (record.video.state !== 'completed') {
    const message =
      record.video.state === 'failed' ? 'this video was never made' : 'this video is not ready yet';
    throw new GatewayError('not_found', { message });
  }
  const { clock, transportFor, active } = inference;
  const variant = new URLSearchParams(search).get('variant');
  const query = variant === null ? undefined : new URLSearchParams({ variant }).toString();
  const { route, request: asked } = videos.prepare(record, { below: ['content'], query });
  const sent = withByteHeaders(asked, request.headers.range);
  return new Promise((resolve, reject) => {
    const content = new VideoContent({ clock, route, response, active, resolve, reject });
    const transport = transportFor(route.provider, holderOf(record.payer));
    content.attach(transport.send(sent, content));
  });
}

/** Segments after the path, decoded. Throws `not_found` where they name nothing. */
function segmentsOf({ path }: HttpExchange, below: string): [string, ...string[]] {
  try {
    const [id = '', ...rest] = pathBelow(path, below).split('/').map(decodeURIComponent);
    return [id, ...rest];
  } catch {
    throw noSuchPath();
  }
}

function onlySegment(exchange: HttpExchange, below: string): string {
  const [id, ...rest] = segmentsOf(exchange, below);
  if (rest.length > 0) throw noSuchPath();
  return id;
}

function noSuchPath(): GatewayError {
  return new GatewayError('not_found', { message: 'no such path' });
}

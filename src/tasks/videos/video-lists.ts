import { GatewayError } from '../../core/errors.ts';
import { queryCount } from '../../core/query-count.ts';
import { fromContentStatus } from '../../protocols/videos/content-task.ts';
import type { VideoRecord } from './video-record.ts';
import type { VideoService } from './video-task.ts';
import { toContentTask, toVideoObject } from './video-views.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Rows that are read at once; prompts may be long. */
const PAGE = 200;
/** Tasks that one listing of the content-generation form looks at; it shows how many match in all. */
const MAX_SCANNED = 10_000;

type Lister = Pick<VideoService['rows'], 'list'>;

/** A page of the official client; `after` is the last id of the one before. Throws `invalid_request`. */
export async function listVideos(
  rows: Lister,
  organization: string,
  query: URLSearchParams,
): Promise<object> {
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'must be asc or desc');
  const limit = Math.min(queryCount(query, 'limit') ?? DEFAULT_LIMIT, MAX_LIMIT);
  const after = query.get('after') ?? undefined;
  const page = { after, limit: limit + 1, oldestFirst: order === 'asc' };
  const found = await rows.list(organization, page);
  const data = found.slice(0, limit).map(toVideoObject);
  const ids = found.slice(0, limit).map(({ id }) => id);
  return {
    object: 'list',
    data,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
    has_more: found.length > limit,
  };
}

/** A page of the content-generation form, newest first. Throws `invalid_request`. */
export async function listContentTasks(
  rows: Lister,
  organization: string,
  { query, origin }: { query: URLSearchParams; origin: string },
): Promise<object> {
  const size = Math.min(queryCount(query, 'page_size') ?? DEFAULT_LIMIT, MAX_LIMIT);
  const number = queryCount(query, 'page_num') ?? 1;
  const matches = toFilter(query);
  const shown: VideoRecord[] = [];
  let total = 0;
  let after: string | undefined;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += PAGE) {
    const page = await rows.list(organization, { after, limit: PAGE });
    for (const record of page.filter(matches)) {
      if (total >= (number - 1) * size && shown.length < size) shown.push(record);
      total++;
    }
    after = page.at(-1)?.id;
    if (page.length < PAGE) break;
  }
  return { items: shown.map((record) => toContentTask(record, origin)), total };
}

function toFilter(query: URLSearchParams): (record: VideoRecord) => boolean {
  const status = query.get('filter.status');
  const state = status === null ? undefined : fromContentStatus(status);
  // A status that no task of ours ever has (`cancelled`) matches nothing.
  if (status !== null && state === undefined) return () => false;
  const model = query.get('filter.model');
  const ids = query.getAll('filter.task_ids').flatMap((text) => text.split(','));
  return (record) =>
    (state === undefined || record.video.state === state) &&
    (model === null || record.model === model) &&
    (ids.length === 0 || ids.includes(record.id));
}

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `\`${param}\` ${what}`, param });
}

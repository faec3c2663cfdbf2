import type { Protocol } from '../../core/protocol-id.ts';
import type { WorkKeeper } from '../../inference/work-keeper.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { WireProtocol } from '../../protocols/protocol.ts';
import type { Store } from '../../store/store.ts';
import { chatSurface } from '../../surfaces/chat.ts';
import { embeddingsSurface } from '../../surfaces/embeddings.ts';
import { generateContentSurface } from '../../surfaces/generate-content.ts';
import {
  createGoogleModelGet,
  createGoogleModelsList,
} from '../../surfaces/generate-content-models.ts';
import { imageEditsSurface, imagesSurface } from '../../surfaces/images.ts';
import { createInferenceHandler } from '../../surfaces/inference-surface.ts';
import type { InferenceSurface, SurfaceDeps } from '../../surfaces/inference-surface.ts';
import { createInteractionDesk } from '../../tasks/interactions/interaction-desk.ts';
import type { InteractionDesk } from '../../tasks/interactions/interaction-desk.ts';
import { createInteractionGet } from '../../tasks/interactions/interaction-get.ts';
import { interactionsSurface } from '../../tasks/interactions/interactions-surface.ts';
import { countTokensSurface, messagesSurface } from '../../surfaces/messages.ts';
import { createSharedModels } from '../../surfaces/model-lists.ts';
import { createPassthroughHandler, PASSTHROUGH_PATH } from '../../apis/passthrough-handlers.ts';
import { responsesSurface } from '../../surfaces/responses.ts';
import { createVideoDesk } from '../../tasks/videos/video-desk.ts';
import type { VideoDesk } from '../../tasks/videos/video-desk.ts';
import {
  CONTENT_TASKS_PATH,
  createVideoHandlers,
  VIDEOS_PATH,
} from '../../tasks/videos/video-handlers.ts';
import { contentTasksSurface, videosSurface } from '../../tasks/videos/videos-surface.ts';
import type { Transport } from '../../upstream/transport.ts';
import type { Api } from '../../routing/catalog.ts';
import type { Charges } from '../../usage/spend/charges.ts';
import type { RouteSpec } from '../http/routes.ts';

/** Every inference endpoint. */
export const SURFACES: readonly InferenceSurface[] = [
  chatSurface,
  responsesSurface,
  embeddingsSurface,
  imagesSurface,
  imageEditsSurface,
  messagesSurface,
  countTokensSurface,
  generateContentSurface,
  interactionsSurface,
  videosSurface,
  contentTasksSurface,
];

/**
 * Protocols that clients can speak; of several endpoints of one protocol the first stands for it.
 */
export const CLIENT_PROTOCOLS: readonly WireProtocol[] = SURFACES.map(
  ({ protocol }) => protocol,
).filter(({ id }, index, all) => all.findIndex((one) => one.id === id) === index);

/** Parts that public endpoints need, those included whose work outlives the call. */
export interface PublicDeps extends SurfaceDeps {
  readonly store: Store;
  readonly jobs: Jobs;
  readonly charges: Charges;
  /** HTTP to an API; `holder` is whoever its connections are shared out to. */
  transportToApi(api: Api, holder: string): Transport;
  /** Time in ms for which a call waits for work that goes on at its provider. */
  readonly interactionWaitMs: number;
  /** `server.compat.model_lists`. */
  readonly readsEveryCarrier: boolean;
  /** Time in ms for which finished asynchronous work is kept; null: its own time. */
  readonly resultsKeptMs: number | null;
}

/** Serves the endpoints that clients call with their keys. */
export function publicRoutes(deps: PublicDeps): RouteSpec[] {
  const desk = createInteractionDesk(deps);
  const videos = createVideoDesk(deps);
  const keepers = new Map<Protocol, WorkKeeper>([
    ['interactions', desk.keeper],
    ['videos', videos.keeper],
  ]);
  return [
    ...catalogRoutes(deps),
    ...SURFACES.flatMap((surface) => inferenceRoutes(surface, { ...deps, keepers })),
    ...interactionRoutes(desk, deps),
    ...videoRoutes(videos, deps),
    ...apiRoutes(deps),
  ];
}

function interactionRoutes(desk: InteractionDesk, deps: SurfaceDeps): RouteSpec[] {
  const methods = { GET: createInteractionGet(desk, deps) };
  return interactionsSurface.paths.map((path) => ({
    path: `${path}/**`,
    envelope: 'google',
    methods,
  }));
}

function videoRoutes(desk: VideoDesk, deps: SurfaceDeps): RouteSpec[] {
  const { list, get, remove, listTasks, getTask, removeTask } = createVideoHandlers(desk, deps);
  return [
    { path: VIDEOS_PATH, envelope: 'flat', methods: { GET: list } },
    { path: `${VIDEOS_PATH}/**`, envelope: 'flat', methods: { GET: get, DELETE: remove } },
    { path: CONTENT_TASKS_PATH, envelope: 'flat', methods: { GET: listTasks } },
    {
      path: `${CONTENT_TASKS_PATH}/**`,
      envelope: 'flat',
      methods: { GET: getTask, DELETE: removeTask },
    },
  ];
}

function apiRoutes(deps: PublicDeps): RouteSpec[] {
  const handler = createPassthroughHandler(deps);
  const methods = { GET: handler, POST: handler };
  return [`${PASSTHROUGH_PATH}/:vendor`, `${PASSTHROUGH_PATH}/:vendor/**`].map((path) => ({
    path,
    envelope: 'flat',
    methods,
    refusesHead: true,
  }));
}

function catalogRoutes(surface: PublicDeps): RouteSpec[] {
  const deps = { ...surface, protocols: CLIENT_PROTOCOLS };
  const shared = createSharedModels(deps);
  const list = createGoogleModelsList(deps);
  const get = createGoogleModelGet(deps);
  return [
    { path: '/v1/models', envelope: 'flat', methods: { GET: shared.list } },
    { path: '/v1/models/**', envelope: 'flat', methods: { GET: shared.get } },
    { path: '/v1beta/models', envelope: 'google', methods: { GET: list } },
    { path: '/v1beta/models/**', envelope: 'google', methods: { GET: get } },
  ];
}

function inferenceRoutes(surface: InferenceSurface, deps: SurfaceDeps): RouteSpec[] {
  const methods = { POST: createInferenceHandler(surface, deps) };
  return surface.paths.map((path) => ({ path, envelope: surface.family.envelope, methods }));
}

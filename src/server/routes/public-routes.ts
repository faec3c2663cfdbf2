import type { WireProtocol } from '../../protocols/protocol.ts';
import type { Repository } from '../../resources/store/repository.ts';
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
import { createInteractionGet } from '../../tasks/interactions/interaction-get.ts';
import { interactionsSurface } from '../../tasks/interactions/interaction-task.ts';
import { countTokensSurface, messagesSurface } from '../../surfaces/messages.ts';
import { createSharedModels } from '../../surfaces/model-lists.ts';
import { createPassthroughHandler, PASSTHROUGH_PATH } from '../../apis/passthrough-handlers.ts';
import { responsesSurface } from '../../surfaces/responses.ts';
import { trackersOf } from '../../tasks/open-tasks.ts';
import type { openTasks } from '../../tasks/open-tasks.ts';
import {
  CONTENT_TASKS_PATH,
  createVideoHandlers,
  VIDEOS_PATH,
} from '../../tasks/videos/video-handlers.ts';
import { contentTasksSurface, videosSurface } from '../../tasks/videos/video-task.ts';
import type { Transport } from '../../upstream/transport.ts';
import type { Api } from '../../routing/catalog.ts';
import type { PublicAddress } from '../../surfaces/client-origin.ts';
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

/** Protocols of clients; the first of several endpoints of one protocol stands for it. */
export const CLIENT_PROTOCOLS: readonly WireProtocol[] = SURFACES.map(
  ({ protocol }) => protocol,
).filter(({ id }, index, all) => all.findIndex((one) => one.id === id) === index);

/** Parts that public endpoints need, those included whose work outlives the call. */
export interface PublicDeps extends SurfaceDeps, PublicAddress {
  readonly store: Store;
  repository: Repository;
  readonly tasks: ReturnType<typeof openTasks>;
  /** HTTP to an API; `holder` is whoever its connections are shared out to. */
  transportToApi(api: Api, holder: string): Transport;
  /** `server.compat.model_lists`. */
  readonly readsEveryCarrier: boolean;
}

/** Routes that clients call with their keys. */
export function publicRoutes(deps: PublicDeps): RouteSpec[] {
  const { interactions, videos } = deps.tasks;
  const trackers = trackersOf(deps.tasks);
  return [
    ...catalogRoutes(deps),
    ...SURFACES.flatMap((surface) => inferenceRoutes(surface, { ...deps, trackers })),
    ...interactionRoutes(interactions, deps),
    ...videoRoutes(videos, deps),
    ...apiRoutes(deps),
  ];
}

function interactionRoutes(
  interactions: PublicDeps['tasks']['interactions'],
  deps: SurfaceDeps,
): RouteSpec[] {
  const methods = { GET: createInteractionGet(interactions, deps) };
  return interactionsSurface.paths.map((path) => ({
    path: `${path}/**`,
    envelope: 'google',
    methods,
  }));
}

function videoRoutes(videos: PublicDeps['tasks']['videos'], deps: PublicDeps): RouteSpec[] {
  const { list, get, remove, listTasks, getTask, removeTask } = createVideoHandlers(videos, deps);
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
  const { envelope } = surface.family;
  return surface.paths.map((path) => ({ path, envelope, methods, isDirect: true }));
}

import type { SpokenProtocols } from '../../protocols/load-protocols.ts';
import type { InferenceSurface } from '../../protocols/surface.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { Store } from '../../store/store.ts';
import {
  createGoogleModelGet,
  createGoogleModelsList,
} from '../../surfaces/generate-content-models.ts';
import { createInferenceHandler } from '../../surfaces/inference-surface.ts';
import type { SurfaceDeps } from '../../surfaces/inference-surface.ts';
import { createInteractionGet } from '../../tasks/interactions/interaction-get.ts';
import { interactionsSurface } from '../../tasks/interactions/interaction-task.ts';
import { createSharedModels } from '../../surfaces/model-lists.ts';
import { createPassthroughHandler, PASSTHROUGH_PATH } from '../../apis/passthrough-handlers.ts';
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
export function surfacesOf({ surfaces }: SpokenProtocols): readonly InferenceSurface[] {
  return [...surfaces, interactionsSurface, videosSurface, contentTasksSurface];
}

/** Parts that public endpoints need, those included whose work outlives the call. */
export interface PublicDeps extends SurfaceDeps, PublicAddress {
  readonly spoken: SpokenProtocols;
  readonly store: Store;
  repository: Repository;
  readonly tasks: ReturnType<typeof openTasks>;
  /** HTTP to an API; each `holder` gets a fair share of its connections. */
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
    ...surfacesOf(deps.spoken).flatMap((surface) =>
      inferenceRoutes(surface, { ...deps, trackers }),
    ),
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
  const deps = { ...surface, protocols: surface.spoken.clients };
  const { list: listShared, get: getShared, envelopeOf } = createSharedModels(deps);
  const list = createGoogleModelsList(deps);
  const get = createGoogleModelGet(deps);
  return [
    { path: '/v1/models', envelope: 'flat', envelopeOf, methods: { GET: listShared } },
    { path: '/v1/models/**', envelope: 'flat', envelopeOf, methods: { GET: getShared } },
    { path: '/v1beta/models', envelope: 'google', methods: { GET: list } },
    { path: '/v1beta/models/**', envelope: 'google', methods: { GET: get } },
  ];
}

function inferenceRoutes(surface: InferenceSurface, deps: SurfaceDeps): RouteSpec[] {
  const methods = { [surface.method ?? 'POST']: createInferenceHandler(surface, deps) };
  const { envelope } = surface.family;
  return surface.paths.map((path) => ({ path, envelope, methods, isDirect: true }));
}

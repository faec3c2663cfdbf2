import type { Handler } from '../../surfaces/http-exchange.ts';
import type { Method, RouteSpec } from '../http/routes.ts';

/** A served path whose handlers are loaded at its first request; by method the name of each. */
export interface RouteOutline<Name extends string> extends Omit<RouteSpec, 'methods'> {
  readonly methods: Partial<Record<Method, Name>>;
}

/** Handlers that the routes of an outline name. */
export type HandlersOf<Outline> = Outline extends readonly RouteOutline<infer Name>[]
  ? Readonly<Record<Name, Handler>>
  : never;

/** Routes that are known at the start, with handlers that `load` gives when the first is asked for. */
export function lazyRoutes<Name extends string>(
  outline: readonly RouteOutline<Name>[],
  load: () => Promise<Readonly<Record<Name, Handler>>>,
): RouteSpec[] {
  const named =
    (name: Name): Handler =>
    async (exchange) =>
      (await load())[name](exchange);
  return outline.map(({ methods, ...route }) => ({
    ...route,
    methods: Object.fromEntries(
      Object.entries(methods).map(([method, name]) => [method, named(name)]),
    ),
  }));
}

import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api/call.ts';

export interface Loaded<T> {
  readonly value: Signal<T | undefined>;
  readonly error: Signal<ApiError | undefined>;
  readonly isLoading: Signal<boolean>;
  reload(): void;
}

/** Loads the data of a page, and again when `deps` change; the former data stay until then. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, deps: unknown[]): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const isLoading = useSignal(false);
  const turn = useSignal(0);
  useEffect(() => {
    const stop = new AbortController();
    const take = async (): Promise<void> => {
      isLoading.value = true;
      try {
        const loaded = await load(stop.signal);
        if (stop.signal.aborted) return;
        value.value = loaded;
        error.value = undefined;
      } catch (thrown) {
        if (!stop.signal.aborted) error.value = toApiError(thrown);
      } finally {
        if (!stop.signal.aborted) isLoading.value = false;
      }
    };
    void take();
    return () => stop.abort();
  }, [...deps, turn.value]);
  return { value, error, isLoading, reload: () => turn.value++ };
}

export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError({
    code: 'failed',
    message: thrown instanceof Error ? thrown.message : String(thrown),
  });
}

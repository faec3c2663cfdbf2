import { useLayoutEffect } from 'preact/hooks';
import { useConsole } from './state.ts';
import type { Command } from './state.ts';

/**
 * Offers commands as long as the page is shown. A layout effect, so that a key that is pressed as soon
 * as rows are seen works on those rows.
 */
export function useCommands(offered: readonly Command[]): void {
  const { commands } = useConsole();
  useLayoutEffect(() => {
    commands.value = offered;
    return () => void (commands.value = []);
  });
}

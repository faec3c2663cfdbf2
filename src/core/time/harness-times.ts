/** Times that the program of a harness has where nothing else is declared. */
export const HARNESS_TIMES = { start: '30s', turn: '1h', stop: '5s' } as const;

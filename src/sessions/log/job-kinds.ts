/** The durable job that runs the turns of the Session of the same id. */
export const TURN_JOB = 'session-turn';

/** The durable job that clears away the events of a deleted Session. */
export const PURGE_JOB = 'session-purge';

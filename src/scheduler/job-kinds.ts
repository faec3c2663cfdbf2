/** The durable job that decides the run of the same id. */
export const TRIGGER_JOB = 'schedule-trigger';

/** The durable job that terminates the Session of the same id in time. */
export const TIMEOUT_JOB = 'session-timeout';

/** The durable job that announces the run of the same id. */
export const NOTIFY_JOB = 'schedule-notify';

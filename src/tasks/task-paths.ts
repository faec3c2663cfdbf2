export const RUN_PATH = '/v1/run';
export const TASKS_PATH = '/v1/tasks';

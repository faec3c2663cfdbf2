import { changeDeployment } from '../../resources/change-deployment.ts';

export const run = changeDeployment({
  ask: 'Delete',
  done: 'deleted',
  act: (client, id, signal) => client.deployments.delete(id, signal),
});

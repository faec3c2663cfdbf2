import { changeDeployment } from '../../resources/change-deployment.ts';

export const run = changeDeployment({
  ask: 'Archive',
  done: 'archived',
  act: (client, id, signal) => client.deployments.action(id, 'archive', signal),
});

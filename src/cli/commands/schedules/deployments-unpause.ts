import { changeDeployment } from '../../resources/change-deployment.ts';

export const run = changeDeployment({
  done: 'active',
  act: (client, id, signal) => client.deployments.action(id, 'unpause', signal),
});

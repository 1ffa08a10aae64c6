// The scanner of infrastructure as the catalogue has it.
import type { Scanner } from '../contract.js';
import { dockerRules } from './docker/rules.js';
import { asRule } from './rule.js';

export const isDockerfile = (path: string): boolean =>
  /(?:^|\/)(?:[\w.-]+\.)?(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?$/i.test(path) &&
  !/\.(?:dockerignore|md|ts|js|py|go)$/i.test(path);

export const iacScanner: Scanner = {
  kind: 'iac',
  tool: 'gatehouse-iac',
  label: 'Infrastructure',
  rules: dockerRules.map(asRule),
  joinsFiles: true,
  fileBytesMax: 4 * 1024 * 1024,
  wants: isDockerfile,
  createEngine: async () => new (await import('./engine.js')).IacEngine(),
};

// Variables of nodes that enrol by themselves, where machines or pods come and go.
import type { EnvironmentVariable } from './variable.js';

export const fleetVariables = [
  {
    name: 'NODES_JOIN_SECRET',
    default: '',
    kind: 'key',
    readBy: ['control plane', 'data plane'],
    isSecret: true,
    purpose:
      'secret by which nodes with JOIN_URLS enrol by themselves, the same on control planes and nodes; ' +
      'empty = a node needs a token',
  },
  {
    name: 'NODES_JOIN_MAX',
    default: '100',
    kind: 'count',
    readBy: ['control plane'],
    purpose: 'nodes that are enrolled by NODES_JOIN_SECRET at once, at most',
  },
  {
    name: 'NODES_FORGET_MINUTES',
    default: '60',
    kind: 'count',
    readBy: ['control plane'],
    purpose: 'minutes without a word after which a node that enrolled by NODES_JOIN_SECRET leaves the list of nodes',
  },
  {
    name: 'JOIN_URLS',
    default: '',
    kind: 'urls',
    readBy: ['data plane'],
    purpose:
      'where a data plane that is no node yet enrols at its start (NODES_PORT of control planes), such as ' +
      'https://control.example.org:8096, separated by commas; empty = it does not',
  },
  {
    name: 'JOIN_TOKEN',
    default: '',
    kind: 'secret',
    readBy: ['data plane'],
    isSecret: true,
    purpose: 'token of `gatehouse node token` for that; empty = NODES_JOIN_SECRET',
  },
  {
    name: 'JOIN_NAME',
    default: '',
    kind: 'text',
    readBy: ['data plane'],
    purpose: 'name under which it enrols; empty = the host name',
  },
  {
    name: 'JOIN_LABELS',
    default: '',
    kind: 'list',
    readBy: ['data plane'],
    purpose: 'its labels, such as region=eu,ring=canary; empty = none',
  },
] as const satisfies readonly EnvironmentVariable[];

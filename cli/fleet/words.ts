// How people write control planes, labels and names of nodes: on the command line and in the environment.
import { hostname } from 'node:os';
import { wrongUsage } from '../refusal.js';

/** Words of `gatehouse node` behind the action. */
export interface Asked {
  readonly label?: string[];
  readonly minutes?: string;
  readonly 'nodes-max'?: string;
  readonly 'forget-after'?: string;
  readonly wait?: string;
  readonly undo?: boolean;
  readonly name?: string;
  readonly json?: boolean;
}

/** `eu-node-1:8096` is meant as https. Throws Refusal for what is no address. */
export function addressesOf(text: string): string[] {
  return text.split(',').map((part) => {
    const url = part.includes('://') ? part.trim() : `https://${part.trim()}`;
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
      throw wrongUsage(`${part} is not the address of a control plane, such as https://control.example.org:8096.`);
    return new URL(url).origin;
  });
}

/** `where` names who said it. Throws Refusal for what is no label. */
export function readLabels(given: readonly string[], where = '--label'): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const text of given.map((one) => one.trim())) {
    const at = text.indexOf('=');
    if (at < 1 || at === text.length - 1) throw wrongUsage(`${where} takes NAME=VALUE; ${text} is not that.`);
    labels[text.slice(0, at)] = text.slice(at + 1);
  }
  return labels;
}

/** The name of this host, as nodes may be called. */
export const ownName = (): string =>
  hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
    .slice(0, 60) || 'node';

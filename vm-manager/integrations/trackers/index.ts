// Every kind of tracker; another one is a file and a line here.
import { github } from './github.js';
import { gitlab } from './gitlab.js';
import { jiraCloud, jiraDataCenter } from './jira.js';
import { servicenow } from './servicenow.js';
import type { Tracker } from './tracker.js';
import { webhook } from './webhook.js';

export const trackers = {
  jira_cloud: jiraCloud,
  jira_datacenter: jiraDataCenter,
  github,
  gitlab,
  servicenow,
  webhook,
} as const satisfies Readonly<Record<string, Tracker>>;

export type TrackerType = keyof typeof trackers;
export const trackerTypes = Object.keys(trackers) as TrackerType[];

/** Throws for a type that no row can have. */
export function trackerOf(type: string): Tracker {
  if (!Object.hasOwn(trackers, type)) throw new Error(`there is no tracker of the type ${type}`);
  return trackers[type as TrackerType];
}

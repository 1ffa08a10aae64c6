// English texts of what applications belong to: projects, a site of the firewall; and of the end of an application.
import { some, type Shown } from '../shown.js';

export const assetsText = {
  site: 'Site of the firewall',
  siteHelp:
    'Its virtual patches hold there, and its users see the traffic. Named by users who reach the whole organisation.',
  siteUnsure:
    'This link may have been made by a user who reaches a part of the organisation. It shows such users no ' +
    'traffic until it is confirmed.',
  confirmSite: 'Confirm the link',
  namesUnsure:
    'Its name or external id was given by a user who reaches a part of the organisation. To such users no service ' +
    'of a mesh or a cluster is this application until a user who reaches the whole of it confirms the names.',
  confirmNames: 'Confirm the names',
  namesSure: 'Confirmed.',
  noSites: 'Only a site that the settings name can be chosen, and they name none yet.',
  noSite: 'None',
  siteSaved: 'Saved.',
  siteNow: (a: Shown) => `Virtual patches of it hold at ${a}.`,

  remove: 'Delete',
  removeTitle: 'Delete the application?',
  removeAbout: 'An application with findings stays, unless they are deleted with it.',
  withFindings: 'Delete its findings, too',
  removed: 'The application is gone.',

  projects: 'Projects',
  projectsAbout: 'Applications of one project trust each other: attack chains cross between them.',
  newProject: 'New project',
  name: 'Name',
  owner: 'Owner',
  description: 'Description',
  actions: 'Actions',
  edit: 'Edit',
  delete: 'Delete',
  deleted: 'Deleted.',
  noProjects: 'No project',
  noProjectsAbout: 'Make one to say which applications trust each other.',
  deleteProject: 'Delete the project?',
  deleteProjectAbout: 'One that has applications stays: move them first.',

  rollback: 'Undo this import',
  rollbackTitle: 'Undo the import?',
  rollbackAbout:
    'What it saw is taken back: findings that only it had are deleted, and states follow. Only the last import of an ' +
    'application, tool and branch can be undone.',
  rolledBack: (a: Shown, b: Shown, c: Shown) =>
    `${some(a, 'sighting')} taken back: ${some(b, 'finding')} deleted, ${c} open again.`,
} as const;

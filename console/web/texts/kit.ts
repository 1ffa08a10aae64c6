// Texts of the components.
export const kitText = {
  staleTable: 'What is shown is not up to date',
  unreadTable: 'This could not be read',
  tryAgain: 'Try again',
  more: 'More',
} as const;

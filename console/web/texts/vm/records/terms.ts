// English texts of clocks that users stop, later ends of acceptances and waived violations.
export const termsText = {
  clock: 'Deadline',
  reason: 'Reason',
  days: 'Days from now',
  pause: 'Stop the clock',
  pauseAbout: 'The time that it stands is added to the deadline. Without days it stands until it is resumed.',
  resume: 'Let the clock run',
  extend: 'Give a later end',
  withdraw: 'Take it back',
  waive: 'Waive',
  waiveAbout: 'Until then it is no current violation, and no notice of it is given.',
  act: 'Actions',
} as const;

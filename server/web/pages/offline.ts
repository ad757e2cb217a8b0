/**
 * The page for a lost connection, which the browser shows at the address that could not be opened.
 *
 * Trying again loads that address once more, whole: a link would lose its fragment, and with it an invitation.
 */

document.getElementById('again')?.addEventListener('click', () => location.reload());
addEventListener('online', () => location.reload());

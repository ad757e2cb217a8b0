// The version of this program. Tests hold it against package.json.
#ifndef CLIENT_WIN_CORE_VERSION_H_
#define CLIENT_WIN_CORE_VERSION_H_

#define SPRITES_VERSION "0.1.0"
#define SPRITES_VERSION_NUMBERS 0, 1, 0, 0

#endif  // CLIENT_WIN_CORE_VERSION_H_

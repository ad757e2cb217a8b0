// The numbers of the program's resources.
#ifndef CLIENT_WIN_WIN32_RESOURCE_H_
#define CLIENT_WIN_WIN32_RESOURCE_H_

#define IDI_PROGRAM 1
#define IDD_SETTINGS 10

#define IDC_RELAY 101
#define IDC_NAME 102
#define IDC_WORLD 103
#define IDC_BESIDE 104
#define IDC_SCALE 105
#define IDC_SPRITE_LIMIT 106
#define IDC_ACCEPT 107
#define IDC_CACHE 108
#define IDC_SOUND 110
#define IDC_TOASTS 111
#define IDC_CALM 112
#define IDC_ALL_MONITORS 113
#define IDC_HIDE 114
#define IDC_START 115
#define IDC_ASK 116
#define IDC_RESTORE 117
#define IDC_ERROR 118

#endif  // CLIENT_WIN_WIN32_RESOURCE_H_

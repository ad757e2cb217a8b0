// The numbers of the program's resources.
#ifndef CLIENT_WIN_WIN32_SYSTEM_RESOURCE_H_
#define CLIENT_WIN_WIN32_SYSTEM_RESOURCE_H_

#define IDI_PROGRAM 1
#define IDD_SETTINGS 10
#define IDD_TWO_FIELDS 11
#define IDD_ONE_FIELD 12
#define IDD_SAY 13
#define IDD_HEARD 14
#define IDD_COMPANY 15

// In every dialog.
#define IDC_HEADING 90
#define IDC_TEXT 91
#define IDC_ERROR 92
#define IDC_FOOTER 93

#define IDC_PLACE 101
#define IDC_NAME 102
#define IDC_WORLD 103
#define IDC_SCALE 105
#define IDC_SPRITE_LIMIT 106
#define IDC_ACCEPT 107
#define IDC_CACHE 108
#define IDC_LANGUAGE 109
#define IDC_SOUND 110
#define IDC_TOASTS 111
#define IDC_CALM 112
#define IDC_ALL_MONITORS 113
#define IDC_HIDE 114
#define IDC_START 115
#define IDC_ASK 116
#define IDC_RESTORE 117
#define IDC_QUIET 118
#define IDC_SHOW_HIDDEN 119
#define IDC_MIB 120
#define IDC_PIXELS 121
#define IDC_VOLUME 122
#define IDC_BUBBLES 123
#define IDC_PEEK 124
#define IDC_PAGES 125
#define IDC_SHARING 126
#define IDC_OPACITY 127
#define IDC_CLICK_THROUGH 128
#define IDC_SOUNDS 129

// The label of a control has its number and 100 more.
#define IDC_LABEL 100

// In the dialogs of questions. The second field has the next number.
#define IDC_FIELD 301
#define IDC_MEANING 304
#define IDC_PARADE 305
#define IDC_BOX 306

#define IDC_SAY 501
#define IDC_SAY_LABEL 502
#define IDC_SAY_COUNT 503

#define IDC_HEARD 601
#define IDC_HEARD_TEXT 602
#define IDC_HEARD_MUTE 603

#define IDC_COMPANY 701
#define IDC_COMPANY_SUMMARY 702
#define IDC_COMPANY_PLACES 703
#define IDC_THROWN 704
#define IDC_SWAP 705

#endif  // CLIENT_WIN_WIN32_SYSTEM_RESOURCE_H_

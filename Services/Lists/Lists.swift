enum ListsPlaceholder {}

enum GroupsPlaceholder {}
